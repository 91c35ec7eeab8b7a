#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/core/prediction_set.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/data/examples.h"

namespace slimbayes {

/// What a caller wants in addition to the answers.
struct AnswerRequest {
  std::vector<double> levels = {};  // probabilities of intervals or sets of classes
  bool deterministic_sets = false;  // use deterministic_set instead of prediction_set
};

/// The interval or the set of classes at one level.
struct LevelAnswer {
  double level;
  std::optional<Interval> interval = {};  // [m]; absent for classes
  std::optional<PredictionSet> set = {};  // [m, C]; present for classes if the model is calibrated
};

/// Answers to a set of examples. An example without an answer is listed in `bad` and does not affect the
/// others. m is the number of examples with an answer.
struct Answers {
  Predictive answer;                // [m] in the target's units; every number is finite
  std::vector<LevelAnswer> levels;  // in the order of AnswerRequest::levels
  std::vector<int64_t> rows;        // [m] index of each answered example, ascending
  std::vector<BadRow> bad;          // the examples without an answer, ascending
};

/// Throws std::invalid_argument unless `answers` covers all `examples`, with or without an answer. For a
/// model of windows, the windows are counted, not the rows of the table.
void check_same(const Examples& examples, const Answers& answers);

}  // namespace slimbayes
