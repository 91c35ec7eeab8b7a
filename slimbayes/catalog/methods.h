#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/fit_cost.h"
#include "slimbayes/catalog/input_kind.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// What the two parts of a regression's predictive variance mean (Regression::aleatoric_var, epistemic_var).
enum class SdParts : uint8_t {
  calibrated,  // aleatoric and epistemic variance; each part is calibrated, not only their sum
  noise_only,  // one aleatoric variance for all rows and no epistemic part
  draws,       // epistemic: the spread over draws of the weights; aleatoric: one variance for all rows
  members,     // an ensemble: the parts of its members, plus their disagreement as epistemic
  sum_only     // training fits only the sum; the "epistemic" part is mostly noise that varies with the inputs
};

/// The key under which the resolved options of a method with candidates (`auto`) keep those that it passes on
/// to the candidates that have them.
inline constexpr const char* kPassedOn = "passed_on";

/// Returns a sentence that explains the two parts to a user, without a full stop at the end.
SLIMBAYES_EXPORT std::string_view meaning_of(SdParts parts);

/// A named set of options of a method, which --preset selects. Options that it does not contain keep their
/// defaults.
struct Preset {
  std::string name;
  nlohmann::json options;
  /// What the paper's experiment has besides these options, a text each: flags that belong to the data, what
  /// the paper does not say, and what is done in another way here. `describe` prints them.
  std::vector<std::string> notes = {};
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
  bool variance_grows_away = false;  // the paper claims that the variance grows away from the data

  /// Whether the method is a rival without a network that every other one must beat. `compare` adds it to the
  /// methods that the user names.
  bool plain = false;

  /// Tables of at most this many rows get no validation rows by default: the method holds out rows by itself,
  /// in folds. Summary::valid_rows counts them.
  int64_t most_fold_rows = 0;
  int64_t most_fold_rows_of_classes = 0;  // of a table whose target is a class

  /// false: nothing is chosen by validation rows, so that a fit may train on all rows.
  bool needs_validation = true;

  bool student = false;        // true: takes --likelihood student beside gaussian
  bool dispersed = false;      // true: takes negative-binomial and zero-inflated-poisson beside poisson
  bool seeded = true;          // false: every seed gives the same bits, no random numbers are drawn
  bool resumable = false;      // true: writes checkpoints while it fits
  bool streams = false;        // true: reads its training rows batch by batch, so that they may lie on disk
  bool device = false;         // true: trains on another device than the CPU if told to (FitContext::device)
  bool shares_batches = true;  // false: of several processes (FitContext::ranks) each takes whole batches
  bool updates = false;        // true: can learn and forget rows without training (ExactPosterior)
  bool takes_network = false;  // true: can take the trained network of another fit (--network-from)
  /// Training options that still have an effect if the fit takes a trained network from another fit. Empty
  /// for a method that does not train that network further.
  std::vector<std::string> trains_on;
  /// Options that are used only after the network has been trained. A killed fit whose network is finished
  /// may be resumed with other values of these options.
  std::vector<std::string> after_training;
  /// The method that is fitted instead of this one when the noise of a small table is estimated by
  /// cross-fitting; it gets the options that both methods have. For rich-bll it is bll, so that both have the
  /// same noise. Empty: the method itself is fitted.
  std::string noise_of;
  /// The name of the option that selects a wrapped method, such as "of" for ensemble. The options of the
  /// wrapped method are given in the same object. Empty for a method that wraps none.
  std::string inner;

  /// Returns the names of the methods that this one fits and chooses among (auto), given its options. Options
  /// of these methods may be given in the same object. Empty for other methods.
  std::function<std::vector<std::string>(const nlohmann::json& given)> candidates;

  /// Returns what a fit of this size costs; `options` are all options of the method. Empty: next to nothing.
  std::function<FitCost(const FitSize& size, const nlohmann::json& options)> cost;

  std::vector<OptionDoc> options;  // the method's own options
  std::vector<Preset> presets;
  /// Checks the given options and returns every option of the method, with defaults filled in. Throws
  /// std::invalid_argument for an unknown option or a value out of range.
  std::function<nlohmann::json(const nlohmann::json& given)> resolve;
};

/// Returns every method, family by family, in the order in which listings show them.
SLIMBAYES_EXPORT std::span<const MethodInfo> method_catalog();

/// Finds a method by its name or an alias. Throws std::invalid_argument for an unknown name and suggests the
/// nearest known one.
SLIMBAYES_EXPORT const MethodInfo& find_method(std::string_view name);

/// Returns the method for a task when the user names none: auto for regression, classification and counts,
/// sv-rbf for events.
SLIMBAYES_EXPORT const MethodInfo& default_method(TaskKind task);

/// Returns the method for a likelihood that few methods take (fact_of) when the user names none: dbk for
/// student, vbll for the counts with more noise than Poisson's. nullptr for other likelihoods, where
/// default_method() holds.
SLIMBAYES_EXPORT const MethodInfo* default_method_of(std::optional<LikelihoodKind> likelihood);

/// Returns the field that is true for the methods that take this likelihood beside the usual one of its task,
/// such as &MethodInfo::student; nullptr for a likelihood that every method of the task takes.
SLIMBAYES_EXPORT bool MethodInfo::*fact_of(std::optional<LikelihoodKind> likelihood);

/// Returns the method for a task and a kind of input when the user names none: that for the task if it reads
/// the kind, else the first method of the catalogue that does both (dnn for segmentation).
SLIMBAYES_EXPORT const MethodInfo& default_method(TaskKind task, InputKind kind);

/// Returns rich-bll: the method of a fit that takes a trained network (--network-from) when the user names no
/// method.
SLIMBAYES_EXPORT const MethodInfo& default_method_of_network();

/// Returns the default method of every task as text for help, such as "auto for regression, classification
/// and counts, sv-rbf for events".
SLIMBAYES_EXPORT std::string default_methods_text();

/// Returns the names, comma-separated, of the methods for which this boolean field, such as
/// &MethodInfo::updates, is true.
SLIMBAYES_EXPORT std::string methods_that(bool MethodInfo::*fact);

/// Returns the names of the presets that at least one method has.
SLIMBAYES_EXPORT std::vector<std::string> preset_names();

/// Returns the preset of the method with this name, or nullptr if there is none. For a method that wraps
/// another one (ensemble), returns the preset of the wrapped method, which `options` names.
SLIMBAYES_EXPORT const Preset* find_preset(const MethodInfo& info, std::string_view name,
                                           const nlohmann::json& options = nlohmann::json::object());

/// Returns all options of the method: the defaults, overwritten by the preset if the method has it,
/// overwritten by `given`. Throws std::invalid_argument for an unknown option or a value out of range.
SLIMBAYES_EXPORT nlohmann::json preset_options(const MethodInfo& info, const std::string& preset,
                                               const nlohmann::json& given);

/// Returns whether the method can do the task. A method that wraps another one (ensemble) and the wrapped
/// method, which `options` names, must both be able to. Options that are absent have their defaults.
SLIMBAYES_EXPORT bool takes(const MethodInfo& info, TaskKind task,
                            const nlohmann::json& options = nlohmann::json::object());

/// Returns whether the method can do the task of this likelihood and takes it if few methods do (fact_of), a
/// wrapped method included.
SLIMBAYES_EXPORT bool takes(const MethodInfo& info, LikelihoodKind likelihood,
                            const nlohmann::json& options = nlohmann::json::object());

/// Returns whether the method can read this kind of input. A method that wraps another one (ensemble) and the
/// wrapped method, which `options` names, must both be able to.
SLIMBAYES_EXPORT bool takes(const MethodInfo& info, InputKind kind,
                            const nlohmann::json& options = nlohmann::json::object());

/// Returns the names, comma-separated, of the methods that with default options take this task and kind of
/// input.
SLIMBAYES_EXPORT std::string methods_taking(TaskKind task, InputKind kind = InputKind::table);

/// The name of a method, with a value for every one of its options.
struct MethodChoice {
  std::string method;
  nlohmann::json options;
};

/// Returns the wrapped method of a method such as ensemble: the one that `options` names, or the default one
/// if the key is absent. For a method that wraps none, returns `info` itself. Throws std::invalid_argument if
/// `options` names an unknown method.
SLIMBAYES_EXPORT const MethodInfo& inner_method(const MethodInfo& info, const nlohmann::json& options);

/// Returns the name of the output of a regression that can detect out-of-distribution rows: "epistemic_sd" if
/// the epistemic part measures the uncertainty of the model (for an ensemble it includes the members'
/// disagreement), "total_sd" if that part is mostly noise (SdParts::sum_only), "" if the method has only one
/// noise variance for all rows and so cannot detect them.
SLIMBAYES_EXPORT std::string ood_score(const MethodInfo& info, const nlohmann::json& options);

/// Returns the descriptions of every option that may be given in the same object as `options`: those of the
/// method itself, then those of the method that it wraps or of its candidates, each name once.
SLIMBAYES_EXPORT std::vector<OptionDoc> options_of(const MethodInfo& info, const nlohmann::json& options);

/// Returns the names of the options that `fit --tune` chooses: the options with a grid that `given` does not
/// set. Throws std::invalid_argument if there are none.
SLIMBAYES_EXPORT std::vector<std::string> tunable_options(const MethodInfo& info,
                                                          const nlohmann::json& given);

/// Returns the options of all methods that `fit --tune` can choose, with the values that it tries, as text
/// for help: "alpha and beta over 0, 0.01, 0.1, 1".
SLIMBAYES_EXPORT std::string grids_text();

}  // namespace slimbayes
