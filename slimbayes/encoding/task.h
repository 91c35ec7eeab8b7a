#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The height and width of the images of a segmentation, in pixels.
struct PixelGrid {
  int64_t height = 0, width = 0;

  bool operator==(const PixelGrid&) const = default;
};

/// What is predicted, and how to convert encoded targets to the user's units.
/// - Regression: y_user = y_shift + y_scale * y. The shift is the mean of the training targets. The scale is
///   their sd (1 if they are all equal), or 1 if the target is centred and not scaled. Within bounds y_user
/// is   TargetBounds::unbounded of the target in the user's units, and shift and scale are its mean and sd.
/// - Events: log intensity in the user's units = log intensity over the encoded coordinates + y_shift.
/// - Classification and counts: the shift is 0 and the scale is 1.
struct Task {
  TaskKind kind = TaskKind::regression;
  LikelihoodKind likelihood = LikelihoodKind::gaussian;  // one of those that serve `kind`
  int64_t outputs = 1;  // number of latent functions: one per class for softmax, else 1
  double y_shift = 0, y_scale = 1;
  /// Names of the classes, in the order of their numbers; empty for other tasks.
  std::vector<std::string> levels = {};
  /// Regression: sd of the encoded training targets. It is 1 if they are standardised, and their own sd if
  /// they are only centred.
  double encoded_sd = 1;
  double low = 0;  // regression: lowest training target in the user's units
  /// Regression: the bounds of the target by its nature, and the sd of the training targets in the user's
  /// units, which y_scale does not tell then.
  std::optional<TargetBounds> bounds = {};
  double bounded_sd = 1;
  /// Segmentation: the image of one example, each of whose pixels is a row of a target and of an answer
  /// (answers/pixels.h). Absent for other tasks, where an example is one row.
  std::optional<PixelGrid> grid = {};
};

/// Describes the rows of a dataset: what is predicted, and what the inputs of one row are.
struct Schema {
  Task task;
  /// Names of the encoded features of one row of a table, or of one time step of a window; empty for images.
  std::vector<std::string> features;
  Shape input = {};    // shape of the inputs of one row, without the batch
  int64_t tokens = 0;  // text: number of different tokens, with padding and unknown
};

/// Returns a target in the user's units, from the encoded target y: a double or a tensor. Class numbers and
/// counts stay as they are. For a task without bounds.
template <class Number>
Number decoded_target(const Task& task, const Number& y) {
  return task.y_shift + task.y_scale * y;
}

/// Returns the encoded target, from the target in the user's units; without bounds decoded_target is its
/// inverse up to rounding. A target at a bound is infinite, one beyond it NaN.
inline double encoded_target(const Task& task, double value) {
  return ((task.bounds ? task.bounds->unbounded(value) : value) - task.y_shift) / task.y_scale;
}

/// Returns the sd of the training targets of a regression, in the user's units; 1 if they are all equal.
SLIMBAYES_EXPORT double target_sd(const Task& task);

/// Returns how many rows of an answer one example has: the pixels of its grid, else 1.
SLIMBAYES_EXPORT int64_t rows_per_example(const Task& task);

/// Returns the name that reports give a validation score (Summary::score). For the metric "NLL" it is
/// "standardised validation NLL" if the task is a regression whose targets are standardised, and else
/// "validation NLL".
SLIMBAYES_EXPORT std::string score_name(const Task& task, std::string_view metric);

/// Returns the task as JSON, for a model file. encoded_sd is written only if it is not 1, and low only for a
/// regression.
SLIMBAYES_EXPORT nlohmann::json to_json(const Task& task);

/// Return the bounds of a task as JSON, and read them into a task whose kind is known. Throws
/// std::invalid_argument, naming the function `where`, for bounds that no fit gives.
SLIMBAYES_EXPORT nlohmann::json bounds_json(const Task& task);
SLIMBAYES_EXPORT void read_bounds(const nlohmann::json& json, std::string_view where, Task& task);

/// Checks a task that was read from a model file. Throws std::invalid_argument, naming the function `where`,
/// if two classes have the same name, or y_scale or encoded_sd is outside 1e-140 to 1e140, which no fit
/// gives.
SLIMBAYES_EXPORT void check_stored(const Task& task, std::string_view where);

/// Returns the task that to_json wrote. Throws std::invalid_argument, naming the function `where`, if the
/// JSON does not describe a task.
SLIMBAYES_EXPORT Task task_from_json(const nlohmann::json& json, std::string_view where);

}  // namespace slimbayes
