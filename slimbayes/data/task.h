#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// What is predicted, and how encoded targets map to the user's units.
/// - Regression: y_user = y_shift + y_scale * y. The shift is the mean of the training targets. The scale is
///   their sd (1 if they are all equal), or 1 if the target is centred and not scaled.
/// - Events: log intensity in the user's units = log intensity over the encoded coordinates + y_shift.
/// - Classification and counts: the shift is 0 and the scale is 1.
struct Task {
  TaskKind kind = TaskKind::regression;
  LikelihoodKind likelihood = LikelihoodKind::gaussian;  // a likelihood of this kind of task
  int64_t outputs = 1;  // latent functions: one per class for softmax, else 1
  double y_shift = 0, y_scale = 1;
  /// Names of the classes, in the order of their numbers; empty for other tasks.
  std::vector<std::string> levels = {};
  /// Regression: sd of the training targets as a method sees them; 1, unless the target is not scaled.
  double encoded_sd = 1;
  double low = 0;  // regression: least training target in the user's units
};

/// Returns the name of a validation score by its metric ("NLL"), for Summary::score: "standardised validation
/// NLL" for a regression whose target is standardised, else "validation NLL".
std::string score_name(const Task& task, std::string_view metric);

/// Returns whether `p` answers this task: it is of the task's kind and has a probability for each class.
bool is_answer_to(const Predictive& p, const Task& task);

/// Returns the JSON of a task. It holds encoded_sd only if it is not 1, and low only for a regression.
nlohmann::json to_json(const Task& task);

/// Checks a task from a model file. Throws std::invalid_argument, naming `where`, if two classes have one
/// name or the scale or the sd of the target is beyond what a fit can give.
void check_stored(const Task& task, std::string_view where);

/// Throws std::invalid_argument, naming `where`, if the JSON does not describe a task.
Task task_from_json(const nlohmann::json& json, std::string_view where);

}  // namespace slimbayes
