#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// The metrics of held-out examples, and what trust_notes() needs to know of them.
struct HeldOut {
  const Evaluation& report;  // from Model::evaluate
  std::string rows;          // their name in the notes, such as "validation rows"
  double level;              // of the intervals in the report
  bool fresh = false;        // new data of a user, not a part of the fit: no advice on training
};

/// Returns the scores of examples with identical inputs, which are not independent: all of them share one
/// error. coverage_of_inputs is the mean over the different inputs of the share of their examples whose
/// target lies inside its interval. `answers` are those to `examples`, and y [m] the targets of those with an
/// answer; `weight` [m] their weights, in proportion to which examples of one input share its weight of 1, or
/// undefined. Nothing if all inputs differ, for windows, and for answers without intervals. O(n d).
std::optional<InputScores> inputs_report(const Model& model, const Examples& examples, const Answers& answers,
                                         const at::Tensor& y, const at::Tensor& weight = {});

/// Returns warnings that the scores of the held-out examples justify; empty if there are none. There are two:
/// more examples lie outside their intervals than chance explains; and the NLL is no better than that of one
/// answer for all examples or, if it is, the RMSE of the means is hardly below that of one number for all.
/// Parts with fewer than ten examples are not tested. Each warning is given once, for the first part to which
/// it applies.
std::vector<std::string> trust_notes(const Model& model, const std::vector<HeldOut>& parts);

/// Returns a note if a report rests on n examples, rows or windows, and fewer than thirty, which are too few
/// to rank methods; else "". `noun` names one of them, such as "test window". `advice` is the end of the
/// sentence and says how to score more of them; it may be empty.
std::string few_scored(int64_t n, const std::string& noun, const std::string& advice);

/// The argument `advice` of few_scored for the test part of a fit.
inline constexpr const char* kTestMore = "a larger `.test_fraction` holds out more";

}  // namespace slimbayes
