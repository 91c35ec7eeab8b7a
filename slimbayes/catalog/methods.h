#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/catalog/task.h"

namespace slimbayes {

/// The description of a method; it is available without loading the tensor library.
struct MethodInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;              // one sentence
  std::vector<TaskKind> tasks;      // that it takes
  std::vector<InputKind> inputs;    // that it takes
  std::string paper;
  std::string input_scale;           // how the encoder brings numeric inputs to size: "min-max" or "standard"
  bool seeded = true;                // false: deterministic, every seed gives the same bits
  bool resumable = false;            // writes checkpoints while it fits
  bool splits_uncertainty = false;   // aleatoric and epistemic parts are calibrated apart, not only their sum
  bool epistemic_is_noise = false;   // sd_epistemic is mostly noise that varies with the inputs
  std::string parts;                 // what they are where they are not; without the last stop
  bool variance_grows_away = false;  // the paper claims that the variance grows away from the data
  std::string inner;  // the option that names another method, whose options stand beside these; or empty
  std::vector<OptionDoc> options;
  nlohmann::json paper_preset = nlohmann::json::object();            // options that --preset paper sets
  nlohmann::json (*resolve)(const nlohmann::json& given) = nullptr;  // checks, fills in defaults
};

/// Every method, in the order in which they are listed.
std::span<const MethodInfo> method_catalog();

/// Finds a method by its name or an alias. Throws std::invalid_argument for an unknown name and suggests the
/// nearest known one.
const MethodInfo& find_method(std::string_view name);

/// The method for a user who names none: dbk for numbers, vbll for classes and counts, sv-rbf for events.
const MethodInfo& default_method(TaskKind task);

/// What a preset ("" or "paper") sets for this method, then what was given, checked and with every default.
/// Throws std::invalid_argument.
nlohmann::json preset_options(const MethodInfo& info, const std::string& preset, const nlohmann::json& given);

/// Whether a method with these options (absent keys: the default) takes a task: itself, and the method inside
/// it.
bool takes(const MethodInfo& info, TaskKind task, const nlohmann::json& options = nlohmann::json::object());

/// Whether a method with these options takes this kind of input: itself, and the method inside it.
bool takes(const MethodInfo& info, InputKind kind, const nlohmann::json& options = nlohmann::json::object());

/// The names of the methods that take this task, and this kind of input, by default, comma-separated.
std::string methods_taking(TaskKind task, InputKind kind = InputKind::table);

/// Returns the member method of a method that wraps another (ensemble), read from `options` or, if the key is
/// absent, from its default; returns `info` itself for a method that wraps none. Throws std::invalid_argument
/// when the options name an unknown method.
const MethodInfo& inner_method(const MethodInfo& info, const nlohmann::json& options);

/// What of a regression's answer may tell a foreign row: "epistemic_sd" where that is ignorance (of an
/// ensemble the members' disagreement), "total_sd" where only the sum is calibrated, nothing where it is one
/// noise for all rows.
std::string ood_score(const MethodInfo& info, const nlohmann::json& options);

/// The docs of every option that stands beside these: the method's own, then those of its inner method.
std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options);

/// The options that `fit --tune` chooses: those with a grid that `given` does not set. Throws
/// std::invalid_argument when there is none.
std::vector<std::string> tunable_options(const MethodInfo& info, const nlohmann::json& given);

}  // namespace slimbayes
