#include "slimbayes/catalog/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "slimbayes/catalog/families.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

std::span<const MethodInfo> method_catalog() {
  static const std::vector<MethodInfo> catalog = [] {
    std::vector<MethodInfo> all;
    for (const auto family : {portfolio_methods, deep_kernel_methods, dense_gp_methods, last_layer_methods,
                              weight_space_methods, plain_methods})
      std::ranges::move(family(), std::back_inserter(all));
    return all;
  }();
  return catalog;
}

std::string_view meaning_of(SdParts parts) {
  switch (parts) {
    case SdParts::calibrated:
      break;
    case SdParts::noise_only:
      return "aleatoric alone: one noise variance for all rows, estimated from the model's errors; there is "
             "no epistemic part";
    case SdParts::draws:
      return "sd_epistemic is the spread of the draws of the weights, sd_aleatoric one noise sd for all "
             "rows; "
             "only their sum is calibrated, at best";
    case SdParts::members:
      return "sd_epistemic joins the members' epistemic sd with the spread of their means, sd_aleatoric is "
             "that of the members; only their sum is calibrated, at best";
    case SdParts::sum_only:
      return "sd and the interval are what is trained for; their two parts (predict `.parts`) are not the "
             "aleatoric and the epistemic sd. sd_function is the spread |L^T phi(x)| of the function over "
             "the weights' posterior: it mostly fits noise that varies with the inputs, and it may shrink "
             "away from the data. sd_noise is the rest, one noise sd for all rows";
  }
  return "aleatoric and epistemic parts are calibrated apart";
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string> known;
  for (const MethodInfo& info : method_catalog()) {
    known.push_back(info.name);
    known.insert(known.end(), info.aliases.begin(), info.aliases.end());
    if (info.name == name || std::ranges::find(info.aliases, name) != info.aliases.end()) return info;
  }
  throw std::invalid_argument(fmt::format("[method] expected the name of a method; received '{}'; {}",
                                          foreign_text(name.substr(0, 80)), nearest_hint(name, known)));
}

const MethodInfo& default_method(TaskKind task) {
  switch (task) {
    case TaskKind::regression:
    case TaskKind::classification:
    case TaskKind::counts:
      return find_method("auto");
    case TaskKind::events:
      break;
  }
  return find_method("sv-rbf");
}

const MethodInfo& default_method(TaskKind task, InputKind kind) {
  const MethodInfo& usual = default_method(task);
  const auto fits = [&](const MethodInfo& info) { return takes(info, task) && takes(info, kind); };
  if (fits(usual)) return usual;
  const auto found = std::ranges::find_if(method_catalog(), fits);
  return found == method_catalog().end() ? usual : *found;
}

const MethodInfo* default_method_of(std::optional<LikelihoodKind> likelihood) {
  bool MethodInfo::*const fact = fact_of(likelihood);
  return fact == nullptr ? nullptr : &find_method(fact == &MethodInfo::student ? "dbk" : "vbll");
}

bool MethodInfo::*fact_of(std::optional<LikelihoodKind> likelihood) {
  using enum LikelihoodKind;
  if (likelihood == student) return &MethodInfo::student;
  if (likelihood == negative_binomial || likelihood == zero_inflated_poisson) return &MethodInfo::dispersed;
  return nullptr;
}

const MethodInfo& default_method_of_network() { return find_method("rich-bll"); }

std::string default_methods_text() {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> tasks_of;  // method, its tasks
  for (const TaskKind task :
       {TaskKind::regression, TaskKind::classification, TaskKind::counts, TaskKind::events}) {
    const std::string& method = default_method(task).name;
    if (tasks_of.empty() || tasks_of.back().first != method)
      tasks_of.emplace_back(method, std::vector<std::string_view>{});
    tasks_of.back().second.push_back(name_of(task));
  }
  std::string text;
  for (auto& [method, tasks] : tasks_of) {
    const std::string_view last = tasks.back();
    tasks.pop_back();
    text += fmt::format("{}{} for {}{}{}", text.empty() ? "" : ", ", method, fmt::join(tasks, ", "),
                        tasks.empty() ? "" : " and ", last);
  }
  using enum LikelihoodKind;
  return text + fmt::format(", {} for `.likelihood=student`, {} for {} and {}",
                            default_method_of(student)->name, default_method_of(negative_binomial)->name,
                            name_of(negative_binomial), name_of(zero_inflated_poisson));
}

std::string methods_that(bool MethodInfo::*fact) {
  std::string names;
  for (const MethodInfo& info : method_catalog())
    if (info.*fact) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const MethodInfo& info : method_catalog()) {
    for (const Preset& preset : info.presets)
      if (std::ranges::find(names, preset.name) == names.end()) names.push_back(preset.name);
  }
  return names;
}

const Preset* find_preset(const MethodInfo& info, std::string_view name, const nlohmann::json& options) {
  const std::vector<Preset>& presets = inner_method(info, options).presets;
  const auto found = std::ranges::find(presets, name, &Preset::name);
  return found == presets.end() ? nullptr : &*found;
}

nlohmann::json preset_options(const MethodInfo& info, const std::string& preset,
                              const nlohmann::json& given) {
  const Preset* named = find_preset(info, preset, given);
  nlohmann::json options = named == nullptr ? nlohmann::json::object() : named->options;
  options.update(given);
  return info.resolve(options);
}

const MethodInfo& inner_method(const MethodInfo& info, const nlohmann::json& options) {
  if (info.inner.empty()) return info;
  const auto given = options.find(info.inner);
  const auto doc = std::ranges::find(info.options, info.inner, &OptionDoc::name);
  const nlohmann::json& name = given == options.end() ? doc->fallback : *given;
  detail::check_option(*doc, name, info.name);  // the options may be a user's, not resolved yet
  return find_method(name.get<std::string>());
}

std::string ood_score(const MethodInfo& info, const nlohmann::json& options) {
  const SdParts parts = inner_method(info, options).parts;
  if (parts == SdParts::sum_only) return "total_sd";
  // Even if the members have no epistemic part of their own, the disagreement of their means is one.
  return parts == SdParts::noise_only && info.parts != SdParts::members ? "" : "epistemic_sd";
}

std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options) {
  std::vector<OptionDoc> docs = info.options;
  const MethodInfo& inner = inner_method(info, options);
  if (&inner != &info) docs.insert(docs.end(), inner.options.begin(), inner.options.end());
  if (!info.candidates) return docs;
  for (const std::string& name : info.candidates(options))
    for (const OptionDoc& doc : find_method(name).options)
      if (std::ranges::find(docs, doc.name, &OptionDoc::name) == docs.end()) docs.push_back(doc);
  return docs;
}

std::vector<std::string> tunable_options(const MethodInfo& info, const nlohmann::json& given) {
  std::vector<std::string> names, set;
  for (const OptionDoc& doc : info.candidates ? info.options : options_of(info, given)) {
    if (!doc.grid.empty()) (given.contains(doc.name) ? set : names).push_back(doc.name);
  }
  if (!names.empty()) return names;
  if (!set.empty()) {
    throw std::invalid_argument(
        fmt::format("[tunable_options] expected something left to choose for `.tune`; received options that "
                    "set {}; leave "
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

std::string grids_text() {
  std::vector<std::pair<std::vector<double>, std::vector<std::string>>> grids;  // values, options
  for (const MethodInfo& info : method_catalog()) {
    for (const OptionDoc& doc : info.options) {
      if (doc.grid.empty()) continue;
      auto grid = std::ranges::find(grids, doc.grid, [](const auto& known) { return known.first; });
      if (grid == grids.end()) grid = grids.insert(grids.end(), {doc.grid, {}});
      if (std::ranges::find(grid->second, doc.name) == grid->second.end()) grid->second.push_back(doc.name);
    }
  }
  std::string text;
  for (const auto& [values, names] : grids)
    text += fmt::format("{}{} over {:g}", text.empty() ? "" : "; ", fmt::join(names, " and "),
                        fmt::join(values, ", "));
  return text;
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

bool takes(const MethodInfo& info, LikelihoodKind likelihood, const nlohmann::json& options) {
  if (!takes(info, task_of(likelihood), options)) return false;
  bool MethodInfo::*const fact = fact_of(likelihood);
  return fact == nullptr || (info.*fact && inner_method(info, options).*fact);
}

std::string methods_taking(TaskKind task, InputKind kind) {
  std::string names;
  for (const MethodInfo& info : method_catalog()) {
    if (takes(info, task) && takes(info, kind)) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

}  // namespace slimbayes
