#include "slimbayes/catalog/method_entry.h"

#include <algorithm>

namespace slimbayes {

std::vector<InputKind> every_input() {
  return {InputKind::table, InputKind::windows, InputKind::images, InputKind::text};
}

std::vector<TaskKind> every_task() {
  return {TaskKind::regression, TaskKind::classification, TaskKind::counts, TaskKind::events};
}

MethodInfo network_method(std::string name, std::vector<TaskKind> tasks) {
  MethodInfo info;
  info.name = std::move(name);
  info.inputs = every_input();
  if (std::ranges::find(tasks, TaskKind::classification) == tasks.end())
    std::erase(info.inputs, InputKind::images);
  info.tasks = std::move(tasks);
  info.input_scale = "min-max";
  info.resumable = true;
  info.device = true;
  info.cost = network_cost;
  return info;
}

MethodInfo segmenting(MethodInfo info) {
  info.inputs.push_back(InputKind::segmentation);
  return info;
}

Preset paper_preset(std::initializer_list<nlohmann::json> groups, std::vector<std::string> notes) {
  nlohmann::json all = nlohmann::json::object();
  for (const nlohmann::json& group : groups) all.update(group);
  return {"paper", std::move(all), std::move(notes)};
}

}  // namespace slimbayes
