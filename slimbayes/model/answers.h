#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/prediction_set.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// What Model::answers computes in addition to the answers themselves.
struct AnswerRequest {
  std::vector<double> levels = {};  // coverage of each interval or set, such as 0.95
  bool deterministic_sets = false;  // sets of classes without randomisation (deterministic_set)
};

/// The intervals of all answers at one level, or the prediction sets if the answers are classes.
struct LevelAnswer {
  double level;                           // coverage, in (0, 1)
  std::optional<Interval> interval = {};  // [m]; absent for classes
  std::optional<PredictionSet> set = {};  // [m, C]; present for classes if the model is calibrated
};

/// Answers to n examples, m of which have an answer. The other n - m are listed in `bad` with the reasons;
/// they do not affect the answers to the m.
struct Answers {
  Predictive answer;  // [m] in the target's units; of segmentation [m h w]; every number is finite
  std::vector<LevelAnswer> levels;  // in the order of AnswerRequest::levels
  std::vector<int64_t> rows;        // [m] index of each answered example, ascending
  std::vector<BadRow> bad;          // the examples without an answer, ascending
  /// [m] calibration group of each answered example, -1 for a cell that no calibration row had
  /// (groups_of_cells); empty for a model without FitOptions::calibrate_by.
  std::vector<int64_t> calibration_group = {};
};

/// Throws std::invalid_argument if `answers` is not for as many examples as `examples` holds. Examples
/// without an answer (Answers::bad) are counted too. For a model of windows, `examples` must be the windows
/// (Model::examples) and not their table, whose rows would be counted.
SLIMBAYES_EXPORT void check_same(const Examples& examples, const Answers& answers);

/// Returns the answers to those of the examples whose indices `places` lists, ascending. The indices in the
/// result count these examples alone. The answers must be those to table rows, windows or texts, one row
/// each.
SLIMBAYES_EXPORT Answers take(const Answers& answers, const std::vector<int64_t>& places);

}  // namespace slimbayes
