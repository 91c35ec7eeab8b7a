#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/core/prediction_set.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/data/examples.h"

namespace slimbayes {

/// Answers to a set of examples. An example without an answer is listed in `bad` and does not affect the
/// others. m is the number of examples with an answer.
struct Answers {
  Predictive answer;                 // [m] in the target's units; every number is finite
  std::optional<Interval> interval;  // [m]; absent for classes, and if no level was asked for
  /// [m, C]; present for classes if the model is calibrated and a level was asked for
  std::optional<PredictionSet> set;
  std::vector<int64_t> rows;  // [m] index of each answered example, ascending
  std::vector<BadRow> bad;    // the examples without an answer, ascending
};

/// Throws std::invalid_argument unless `answers` covers as many examples (with or without an answer) as there
/// are. A model of windows counts windows, not the rows of the table.
void check_same(const Examples& examples, const Answers& answers);

}  // namespace slimbayes
