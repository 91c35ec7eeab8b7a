#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/core/prediction_set.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/data/examples.h"

namespace slimbayes {

/// Answers to examples, each by itself: one that has none does not keep the others from theirs.
struct Answers {
  Predictive answer;                 // [m] in the target's units; every number is finite
  std::optional<Interval> interval;  // [m]; none of classes
  std::optional<PredictionSet> set;  // [m, C], of classes of a calibrated model
  std::vector<int64_t> rows;         // [m] places among the examples, ascending
  std::vector<BadRow> bad;           // the other examples, ascending
};

/// Throws std::invalid_argument unless there are as many answers as examples, with and without: a model of windows numbers
/// windows, not the rows of the table.
void check_same(const Examples& examples, const Answers& answers);

}  // namespace slimbayes
