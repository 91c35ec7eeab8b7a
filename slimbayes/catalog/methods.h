#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/catalog/task.h"

namespace slimbayes {

/// What the two parts of a regression's predictive variance mean (Regression::aleatoric_var, epistemic_var).
enum class SdParts : uint8_t {
  calibrated,  // aleatoric and epistemic variance; each part is calibrated, not only their sum
  noise_only,  // one aleatoric variance for all rows and no epistemic part
  draws,       // the epistemic part is the spread of draws of the weights, the aleatoric part one variance
  members,     // of an ensemble: the members' parts and their disagreement
  sum_only  // only the sum is trained for; the "epistemic" part is mostly noise that varies with the inputs
};

/// Explains to a user what the parts mean; no full stop at the end.
std::string_view meaning_of(SdParts parts);

/// Options of a method with a name, for --preset.
struct Preset {
  std::string name;
  nlohmann::json options;
};

/// The description of a method. It is available without loading the tensor library.
struct MethodInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::string summary;            // one sentence
  std::string paper;              // source of the method: paper, section, equation
  std::vector<TaskKind> tasks;    // tasks that the method can do
  std::vector<InputKind> inputs;  // kinds of input that the method can read
  std::string input_scale;        // how the encoder scales numeric inputs: "min-max" or "standard"

  SdParts parts = SdParts::calibrated;
  bool variance_grows_away = false;  // true: the paper claims that the variance grows away from the data

  bool seeded = true;          // false: deterministic, every seed gives the same bits
  bool resumable = false;      // true: writes checkpoints while it fits
  bool updates = false;        // true: an ExactPosterior, which learns rows without a new training
  bool takes_network = false;  // true: the fit can start from a trained network (FitContext::start)
  /// Training options that have an effect on a fit that starts from a trained network. Empty for a method
  /// that keeps the network as it is.
  std::vector<std::string> trains_on;
  /// Options that act after the training alone: a killed fit may go on from its checkpoint with other values.
  std::vector<std::string> after_training;
  /// The method whose fits cross-fit the noise of few rows in place of this one's, with the options that both
  /// have (rich-bll: bll, so that both have one noise). Empty: the method itself.
  std::string noise_of;
  /// The option that names another method (ensemble: "of"). The options of that method are given in the same
  /// object. Empty for a method that wraps none.
  std::string inner;

  std::vector<OptionDoc> options;  // the method's own options
  std::vector<Preset> presets;
  /// Checks given options and returns all of them, with defaults filled in. Throws std::invalid_argument for
  /// an unknown option or a value out of range.
  std::function<nlohmann::json(const nlohmann::json& given)> resolve;
};

/// Returns every method, in the order in which listings show them: family by family.
std::span<const MethodInfo> method_catalog();

/// Finds a method by its name or an alias. Throws std::invalid_argument for an unknown name and suggests the
/// nearest known one.
const MethodInfo& find_method(std::string_view name);

/// Returns the method for a task when the user names none: dbk for regression, vbll for classification and
/// counts, sv-rbf for events.
const MethodInfo& default_method(TaskKind task);

/// Returns the method of a fit that starts from a trained network when the user names none: rich-bll.
const MethodInfo& default_method_of_network();

/// Returns the methods of default_method for help, such as "dbk for regression, vbll for classification".
std::string default_methods_text();

/// Returns the names, comma-separated, of the methods with a fact, such as &MethodInfo::updates.
std::string methods_that(bool MethodInfo::*fact);

/// Returns the names of the presets that at least one method has.
std::vector<std::string> preset_names();

/// Returns the preset with this name, of a method that wraps another (ensemble) that of the wrapped method.
/// nullptr: there is none.
const Preset* find_preset(const MethodInfo& info, std::string_view name,
                          const nlohmann::json& options = nlohmann::json::object());

/// Returns all options of a fit: the defaults, overwritten by those of the preset (if the method has it),
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
/// part measures the uncertainty of the model (for an ensemble it includes the members' disagreement),
/// "total_sd" if it is mostly noise (SdParts::sum_only), "" if the method has only one noise variance for all
/// rows.
std::string ood_score(const MethodInfo& info, const nlohmann::json& options);

/// Returns the docs of every option that may be given in the same object as `options`: the method's own
/// options, then those of its inner method.
std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options);

/// Returns the names of the options that `fit --tune` chooses: the options with a grid that `given` does not
/// set. Throws std::invalid_argument if there are none.
std::vector<std::string> tunable_options(const MethodInfo& info, const nlohmann::json& given);

/// Returns the tunable options of all methods with their grids for help: "alpha and beta over 0, 0.01, 0.1,
/// 1".
std::string grids_text();

}  // namespace slimbayes
