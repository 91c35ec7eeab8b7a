#pragma once

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/task.h"

namespace slimbayes::contract {

/// Returns options of a fit that is quick, not good.
inline nlohmann::json quick_options(const MethodInfo& info, TaskKind task) {
  nlohmann::json quick = nlohmann::json::object();
  if (info.candidates) quick["candidates"] = task == TaskKind::regression ? "constant,ridge" : "constant";
  if (!info.inner.empty()) quick["members"] = 2;
  for (const OptionDoc& option : options_of(info, quick)) {
    if (option.name == "steps") quick["steps"] = 60;
    if (option.name == "iterations") quick["iterations"] = 10;
    if (option.name == "learning_rate") quick["learning_rate"] = 0.02;
    if (option.name == "rank" || option.name == "hidden") quick[option.name] = 16;
    if (option.name == "sketch") quick["sketch"] = 32;
    if (option.name == "beta") quick["beta"] = 0.1;
    if (option.name == "trees") quick["trees"] = 16;
    if (option.name == "inducing_rows") quick["blocks"] = 1;
  }
  return quick;
}

/// Returns options of a fit of a table's task with this likelihood in this many steps.
inline nlohmann::json task_options(const MethodInfo& info, LikelihoodKind likelihood, int64_t steps) {
  nlohmann::json quick = nlohmann::json::object();
  if (info.candidates) quick["candidates"] = "constant,vbll";
  if (!info.inner.empty()) {
    quick["members"] = 2;
    if (!takes(info, likelihood)) quick[info.inner] = "vbll";
  }
  for (const OptionDoc& option : options_of(info, quick)) {
    if (option.name == "steps") quick["steps"] = steps;
    if (option.name == "rank" || option.name == "hidden") quick[option.name] = 16;
    if (option.name == "sketch") quick["sketch"] = 32;
    if (option.name == "beta") quick["beta"] = 0.1;
    if (option.name == "inducing_rows") quick["blocks"] = 1;
  }
  return quick;
}

}  // namespace slimbayes::contract
