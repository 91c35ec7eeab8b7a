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

/// The description of a method. It is available without loading the tensor library.
struct MethodInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;              // one sentence
  std::vector<TaskKind> tasks;      // tasks that the method can do
  std::vector<InputKind> inputs;    // kinds of input that the method can read
  std::string paper;                // source of the method: paper, section, equation
  std::string input_scale;          // how the encoder scales numeric inputs: "min-max" or "standard"
  bool seeded = true;               // false: deterministic, every seed gives the same bits
  bool resumable = false;           // true: writes checkpoints while it fits
  bool splits_uncertainty = false;  // true: both parts of the uncertainty are calibrated, not only their sum
  bool updates = false;             // true: Fitted::updated takes rows without a new training
  bool takes_network = false;       // true: the fit can start from a trained network (FitContext::start)
  /// Options of the training that still act on a trained network which the fit starts from.
  std::vector<std::string> trains_on;
  bool averages_draws = false;      // true: the epistemic part is the spread of draws of the weights
  bool epistemic_is_noise = false;  // true: the epistemic part is mostly noise that varies with the inputs
  /// What the parts of the sd mean if splits_uncertainty is false; no full stop at the end.
  std::string parts;
  bool variance_grows_away = false;  // true: the paper claims that the variance grows away from the data
  /// The method whose fits cross-fit the noise of few rows in place of this one's, with the options that both
  /// have (rich-bll: bll, so that both have one noise). Empty: the method itself.
  std::string noise_of;
  /// Options that act after the training alone: a killed fit may go on from its checkpoint with others.
  std::vector<std::string> after_training;
  /// The option that names another method (ensemble: "of"). The options of that method are given in the same
  /// object. Empty for a method that wraps none.
  std::string inner;
  std::vector<OptionDoc> options;                                    // the method's own options
  nlohmann::json paper_preset = nlohmann::json::object();            // options that --preset paper sets
  nlohmann::json (*resolve)(const nlohmann::json& given) = nullptr;  // checks options, fills in defaults
};

/// Returns every method, in the order in which listings show them.
std::span<const MethodInfo> method_catalog();

/// Finds a method by its name or an alias. Throws std::invalid_argument for an unknown name and suggests the
/// nearest known one.
const MethodInfo& find_method(std::string_view name);

/// Returns the method for a task when the user names none: dbk for regression, vbll for classification and
/// counts, sv-rbf for events.
const MethodInfo& default_method(TaskKind task);

/// Returns all options of a fit: the defaults, overwritten by those of the preset ("" or "paper"),
/// overwritten by `given`. Throws std::invalid_argument for an unknown option or a value out of range.
nlohmann::json preset_options(const MethodInfo& info, const std::string& preset, const nlohmann::json& given);

/// Returns whether a method with these options can do a task. For a method that wraps another, both must be
/// able to. Absent keys have their defaults.
bool takes(const MethodInfo& info, TaskKind task, const nlohmann::json& options = nlohmann::json::object());

/// Returns whether a method with these options can read a kind of input. For a method that wraps another,
/// both must be able to.
bool takes(const MethodInfo& info, InputKind kind, const nlohmann::json& options = nlohmann::json::object());

/// Returns the names, comma-separated, of the methods that with default options take this task and kind of
/// input.
std::string methods_taking(TaskKind task, InputKind kind = InputKind::table);

/// A method by its name, with all of its options.
struct MethodChoice {
  std::string method;
  nlohmann::json options;
};

/// Returns the member method of a method that wraps another (ensemble), read from `options` or, if the key is
/// absent, from its default; returns `info` itself for a method that wraps none. Throws std::invalid_argument
/// when the options name an unknown method.
const MethodInfo& inner_method(const MethodInfo& info, const nlohmann::json& options);

/// Returns which output of a regression can detect out-of-distribution rows: "epistemic_sd" if the epistemic
/// part measures ignorance (for an ensemble it includes the members' disagreement), "total_sd" if the
/// epistemic part is mostly noise, "" if the method has only one noise variance for all rows.
std::string ood_score(const MethodInfo& info, const nlohmann::json& options);

/// Returns the docs of every option that may be given in the same object as `options`: the method's own
/// options, then those of its inner method.
std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options);

/// Returns the names of the options that `fit --tune` chooses: the options with a grid that `given` does not
/// set. Throws std::invalid_argument if there are none.
std::vector<std::string> tunable_options(const MethodInfo& info, const nlohmann::json& given);

}  // namespace slimbayes
