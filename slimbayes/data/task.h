#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// What is predicted. Of a regression the affine map back to the user's units, y_user = y_shift + y_scale *
/// y: mean and sd of the training targets (1 when they are all equal). Of events: log intensity in the user's
/// units = log intensity over the encoded coordinates + y_shift. Else 0 and 1.
struct Task {
  TaskKind kind = TaskKind::regression;
  LikelihoodKind likelihood = LikelihoodKind::gaussian;  // one that serves `kind`
  int64_t outputs = 1;                                   // latent functions: the classes of a softmax, else 1
  double y_shift = 0, y_scale = 1;
  std::vector<std::string> levels = {};  // names of the classes, in the order of their numbers
};

/// Whether it is an answer to this task: of its kind, with a probability for each class.
bool is_answer_to(const Predictive& p, const Task& task);

nlohmann::json to_json(const Task& task);

/// Throws std::invalid_argument in the name of `where` for what is no task.
Task task_from_json(const nlohmann::json& json, std::string_view where);

}  // namespace slimbayes
