#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/core/prediction_set.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/data/bad_row.h"
#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Answers to a table's rows, each by itself: a row that has none does not keep the others from theirs.
struct Answers {
  Predictive answer;                 // [m] in the target's units; every number is finite
  std::optional<Interval> interval;  // [m]; none of classes
  std::optional<PredictionSet> set;  // [m, C], of classes of a calibrated model
  std::vector<int64_t> rows;         // [m] places in the table, ascending
  std::vector<BadRow> bad;           // the other rows, ascending
};

/// Whether it is an answer to this task: of its kind, with a probability for each class.
bool is_answer_to(const Predictive& p, const Task& task);

}  // namespace slimbayes
