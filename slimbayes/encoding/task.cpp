#include "slimbayes/encoding/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/json_reader.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

int64_t rows_per_example(const Task& task) { return task.grid ? task.grid->height * task.grid->width : 1; }

double target_sd(const Task& task) { return task.bounds ? task.bounded_sd : task.y_scale * task.encoded_sd; }

nlohmann::json bounds_json(const Task& task) {
  const auto end = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(); };
  return {{"low", end(task.bounds->low)}, {"high", end(task.bounds->high)}, {"sd", task.bounded_sd}};
}

void read_bounds(const nlohmann::json& json, std::string_view where, Task& task) {
  const JsonReader read(json, std::string(where));
  TargetBounds bounds;
  if (!json.value("low", nlohmann::json()).is_null()) bounds.low = read.number("low");
  if (!json.value("high", nlohmann::json()).is_null()) bounds.high = read.number("high");
  task.bounded_sd = read.number("sd");
  const bool some = std::isfinite(bounds.low) || std::isfinite(bounds.high);
  const double width = bounds.high - bounds.low;
  const bool wide = !bounds.both() || (width >= 1e-140 && width <= 1e140);  // as bounds_named() has it
  check(some && wide && bounds.low < bounds.high && task.bounded_sd > 0 && task.kind == TaskKind::regression,
        where, "bounds of a regression, and an sd", "others", "the model file is damaged");
  task.bounds = bounds;
}

std::string score_name(const Task& task, std::string_view metric) {
  const bool standardised = task.kind == TaskKind::regression && task.encoded_sd == 1;
  return fmt::format("{}validation {}", standardised ? "standardised " : "", metric);
}

nlohmann::json to_json(const Task& task) {
  nlohmann::json json = {{"likelihood", name_of(task.likelihood)},
                         {"outputs", task.outputs},
                         {"y_shift", task.y_shift},
                         {"y_scale", task.y_scale},
                         {"levels", task.levels}};
  if (task.encoded_sd != 1) json["encoded_sd"] = task.encoded_sd;
  if (task.kind == TaskKind::regression) json["low"] = task.low;
  if (task.bounds) json["bounds"] = bounds_json(task);
  return json;
}

Task task_from_json(const nlohmann::json& json, std::string_view where) {
  constexpr int64_t kMostOutputs = int64_t{1} << 24;
  const JsonReader read(json, std::string(where));
  Task task;
  task.likelihood = likelihood_named(read.text("likelihood"));
  task.kind = task_of(task.likelihood);
  task.outputs = read.count("outputs", 1, kMostOutputs);
  task.y_shift = read.number("y_shift");
  task.y_scale = read.number("y_scale");
  if (read.has("encoded_sd")) task.encoded_sd = read.number("encoded_sd");
  if (task.kind == TaskKind::regression) task.low = read.number("low");
  if (json.contains("bounds")) read_bounds(json.at("bounds"), where, task);
  task.levels = read.texts("levels");
  const int64_t classes = std::ssize(task.levels);
  const bool names = task.kind == TaskKind::classification ? classes >= 2 : classes == 0;
  const int64_t outputs = task.likelihood == LikelihoodKind::softmax ? classes : 1;
  if (!(names && task.outputs == outputs && (task.likelihood != LikelihoodKind::bernoulli || classes == 2)))
    refuse(where, "the names of the classes, and an output for each of a softmax",
           fmt::format("{} and {}", classes, task.outputs), "the model file is damaged");
  check_stored(task, where);
  return task;
}

void check_stored(const Task& task, std::string_view where) {
  std::vector<std::string> different = task.levels;
  std::ranges::sort(different);
  check(std::ranges::adjacent_find(different) == different.end(), where, "names of classes that differ",
        "repeated ones", "the model file is damaged");
  constexpr double kLeast = 1e-140, kMost = 1e140;  // their squares neither overflow nor underflow
  for (const double scale : {task.y_scale, task.encoded_sd})
    if (!(scale >= kLeast && scale <= kMost))
      refuse(where, "a positive scale, from 1e-140 to 1e140", fmt::format("{}", scale),
             "the model file is damaged");
}

}  // namespace slimbayes
