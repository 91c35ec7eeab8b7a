#include "slimbayes/catalog/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "slimbayes/catalog/nearest.h"

namespace slimbayes {

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const MethodInfo& info : method_catalog()) {
    known.push_back(info.name);
    known.insert(known.end(), info.aliases.begin(), info.aliases.end());
    if (info.name == name || std::ranges::find(info.aliases, name) != info.aliases.end()) return info;
  }
  throw std::invalid_argument(fmt::format("[method] expected the name of a method; received '{}'; {}",
                                          name.substr(0, 80), nearest_hint(name, known)));
}

const MethodInfo& default_method(TaskKind task) {
  return find_method(task == TaskKind::regression ? "dbk" : task == TaskKind::events ? "sv-rbf" : "vbll");
}

nlohmann::json preset_options(const MethodInfo& info, const std::string& preset,
                              const nlohmann::json& given) {
  nlohmann::json options = nlohmann::json::object();
  if (preset == "paper") options = inner_method(info, given).paper_preset, options.update(info.paper_preset);
  options.update(given);
  return info.resolve(options);
}

const MethodInfo& inner_method(const MethodInfo& info, const nlohmann::json& options) {
  if (info.inner.empty()) return info;
  const auto given = options.find(info.inner);
  const auto doc = std::ranges::find(info.options, info.inner, &OptionDoc::name);
  return find_method((given == options.end() ? doc->fallback : *given).get<std::string>());
}

std::string ood_score(const MethodInfo& info, const nlohmann::json& options) {
  const MethodInfo& member = inner_method(info, options);
  if (member.epistemic_is_noise) return "total_sd";
  const bool spreads = member.splits_uncertainty || member.averages_draws || &member != &info;
  return spreads ? "epistemic_sd" : "";
}

std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options) {
  std::vector<OptionDoc> docs = info.options;
  const MethodInfo& inner = inner_method(info, options);
  if (&inner != &info) docs.insert(docs.end(), inner.options.begin(), inner.options.end());
  return docs;
}

std::vector<std::string> tunable_options(const MethodInfo& info, const nlohmann::json& given) {
  std::vector<std::string> names, set;
  for (const OptionDoc& doc : options_of(info, given)) {
    if (!doc.grid.empty()) (given.contains(doc.name) ? set : names).push_back(doc.name);
  }
  if (!names.empty()) return names;
  if (!set.empty()) {
    throw std::invalid_argument(fmt::format(
        "[tunable_options] expected something left to choose for --tune; received flags that set {}; leave "
        "one of them out",
        fmt::join(set, " and ")));
  }
  std::vector<std::string> others;
  for (const MethodInfo& other : method_catalog()) {
    if (std::ranges::any_of(other.options, [](const OptionDoc& doc) { return !doc.grid.empty(); }))
      others.push_back(other.name);
  }
  throw std::invalid_argument(
      fmt::format("[tunable_options] expected a method with something to tune; received '{}'; these have: {}",
                  inner_method(info, given).name, fmt::join(others, ", ")));
}

namespace {

template <class T>
bool holds(const std::vector<T>& list, T value) {
  return std::ranges::find(list, value) != list.end();
}

}  // namespace

bool takes(const MethodInfo& info, TaskKind task, const nlohmann::json& options) {
  return holds(info.tasks, task) && holds(inner_method(info, options).tasks, task);
}

bool takes(const MethodInfo& info, InputKind kind, const nlohmann::json& options) {
  return holds(info.inputs, kind) && holds(inner_method(info, options).inputs, kind);
}

std::string methods_taking(TaskKind task, InputKind kind) {
  std::string names;
  for (const MethodInfo& info : method_catalog()) {
    if (takes(info, task) && takes(info, kind)) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

}  // namespace slimbayes
