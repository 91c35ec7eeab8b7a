#include "cli/training_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/messages.h"
#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/recipe.h"
#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

/// Returns the names of the methods that have a preset of this name.
std::vector<std::string> methods_with(const std::string& preset) {
  std::vector<std::string> names;
  for (const MethodInfo& method : method_catalog())
    if (std::ranges::find(method.presets, preset, &Preset::name) != method.presets.end())
      names.push_back(method.name);
  return names;
}

/// Throws std::invalid_argument for a list of likelihoods, which one might give for several targets.
void check_one_likelihood(const nlohmann::json& given) {
  const std::string word = given.value("likelihood", "");
  if (word.find_first_of("=,") == std::string::npos) return;
  misuse(
      fmt::format("expected one --likelihood, which holds for all targets; received '{}'; fit the targets "
                  "that need another "
                  "one by themselves, or leave it out: each column then decides between numbers and classes",
                  foreign_text(word)));
}

/// Returns `defaults` overwritten by the flags for FitOptions. The options of the method are not read here.
FitOptions fit_options(const OptionFlags& flags, const FitOptions& defaults) {
  nlohmann::json given = flags.set_options(option_docs(defaults));
  check_one_likelihood(given);
  nlohmann::json all = options_to_json(defaults);
  all.update(given);
  FitOptions fit = options_from_json<FitOptions>(all, "fit");
  fit.method = defaults.method;
  fit.seed = defaults.seed;
  fit.level = defaults.level;
  return fit;
}

/// Returns the kind of input, judging by the flags and the name of the data file. Returns empty if the name
/// is not that of a table and no flag names a kind: then only the content of the file can show whether it
/// holds images.
std::optional<InputKind> kind_before(FitOptions fit, const std::string& data) {
  const std::string images = fit.format == "auto" ? image_format(data) : "";
  if (!images.empty()) fit.format = images;
  const InputKind kind = input_kind(fit);
  const bool unknown =
      kind == InputKind::table && fit.format == "auto" && data != "-" && !is_table_name(data);
  return unknown ? std::nullopt : std::optional(kind);
}

/// Throws std::invalid_argument if --network-from is combined with another flag of FitOptions, such as
/// --target, because the model file named there fixes the target, the columns and the split. The flags of the
/// calibration are allowed.
void check_alone_with_network(const OptionFlags& flags) {
  const Words own = {"network_from", "calibrate", "calibrate_by", "calibration_fraction"};
  const nlohmann::json given = flags.set_options(option_docs(FitOptions{}));
  for (const auto& item : given.items()) {
    std::string flag = item.key();
    if (std::ranges::find(own, flag) != own.end()) continue;
    std::ranges::replace(flag, '_', '-');
    misuse(
        fmt::format("expected --network-from without --{0}; received both; leave --{0} out: target, columns "
                    "and split are those of that model",
                    flag));
  }
}

/// Checks the options and the flags against each other as far as possible before the data are read. `kind` is
/// empty if it is not known yet. If `data_follow`, the data are read next: then a missing target is left to
/// check_target() (data/fit_examples.h), which names the columns that can be one. Throws
/// std::invalid_argument.
void check_request(const FitOptions& fit, const OptionFlags& flags, std::optional<InputKind> kind,
                   bool data_follow) {
  check_fractions(fit);
  if (!fit.network_from.empty()) return check_alone_with_network(flags);
  if (flags.given("weights") && fit.weights.empty())
    misuse("expected a column for --weights; received an empty name; leave it out for rows that count once");
  if (flags.given("calibrate_by") && fit.calibrate == "none")
    misuse("expected --calibrate with --calibrate-by; received none; add --calibrate conformal");
  if (flags.given("calibration_fraction") && fit.calibrate == "none")
    misuse("expected --calibrate with --calibration-fraction; received none; add --calibrate conformal");
  if (!kind) return;
  check_sections(fit, *kind);
  const bool later =
      data_follow && fit.target.empty() && !are_images(*kind) && fit.likelihood != LikelihoodKind::cox;
  if (!later) check_columns(fit, *kind);
}

/// The options of one method: `given` holds those that flags set, `resolved` a value for every option.
struct MethodFlags {
  nlohmann::json given, resolved;
};

/// Returns the name of the network that these options ask for; of the candidates' network, for a method that
/// hands the options on.
std::string network_of(const nlohmann::json& resolved, InputKind kind) {
  const nlohmann::json& own = resolved.contains(kPassedOn) ? resolved[kPassedOn] : resolved;
  return network_name(own.value("network", NetworkOptions{}.network), kind);
}

/// Throws std::invalid_argument for a network option that flags set, such as --heads, if none of these
/// methods has a network that uses it.
void check_network_flags(const std::vector<MethodFlags>& methods, InputKind kind) {
  const std::vector<std::string> known = networks_for(kind);
  const auto takes = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  for (const OptionDoc& doc : option_docs<NetworkOptions>()) {
    std::string unused;
    bool used = false;
    for (const MethodFlags& method : methods) {
      if (!method.given.contains(doc.name)) continue;
      const std::string name = network_of(method.resolved, kind);
      // A network that cannot take this kind of input is refused by a later check with a clearer message.
      used = used || !takes(name) || uses_option(name, doc.name);
      unused = name;
    }
    if (used || unused.empty()) continue;
    Words users = networks_using(doc.name);
    const std::string all = fmt::format("{}", fmt::join(users, ", "));
    std::erase_if(users, [&](const std::string& name) { return !takes(name); });
    misuse(fmt::format(
        "expected options of the network {}; received --{}, which belongs to {}; leave it out{}", unused,
        doc.name, all, users.empty() ? "" : fmt::format(", or take --network {}", users.front())));
  }
}

/// Returns the note that --dry-run prints if the target's column will decide the method.
std::string method_by_target() {
  return fmt::format(
      "the target's column, which a dry run does not read, decides the method: {} for numbers, as shown, "
      "{} for classes; --method or --likelihood fixes it",
      default_method(TaskKind::regression).name, default_method(TaskKind::classification).name);
}

/// Returns the method that --method names; else rich-bll with --network-from; else the default method of the
/// task, or of regression if the task is not known yet.
const MethodInfo& early_method(const FitOptions& fit, std::optional<TaskKind> task, InputKind kind) {
  if (!fit.method.empty()) return find_method(fit.method);
  if (!fit.network_from.empty()) return default_method_of_network();
  if (const MethodInfo* own = default_method_of(fit.likelihood)) return *own;
  return default_method(task.value_or(TaskKind::regression), kind);
}

}  // namespace

EarlyFit fit_of(const Parsed& p) {
  FitRequest r = p.fit;
  r.train = r.files.front();
  r.fit = fit_options(p.fit_flags, r.fit);
  const bool around = !r.fit.network_from.empty();  // the model file named there decides the kind of input
  const std::optional<InputKind> kind = around ? std::nullopt : kind_before(r.fit, r.train);
  if (r.files.size() > 1 && kind && are_images(*kind))
    misuse(fmt::format("expected one file of images; received {}; give one of them", r.files.size()));
  check_request(r.fit, p.fit_flags, kind, /*data_follow=*/!p.dry_run);
  if (p.valid->count() > 0 && p.fit_flags.given("valid_fraction"))
    misuse("expected --valid or --valid-fraction; received both; leave one of them out");
  const std::optional<TaskKind> task = task_known(r.fit, kind.value_or(InputKind::table));
  const bool named = !r.fit.method.empty();
  const MethodInfo& method = early_method(r.fit, task, kind.value_or(InputKind::table));
  if (named) r.fit.method = method.name;
  // Without --method, the flags of fit are the options of one default method: of rich-bll with
  // --network-from, else of the default method for regression. If the fit turns out to use another method,
  // and that method lacks an option that was given, choose_options() refuses the option.
  r.fit.options = p.fit_flags.set_options(named || around ? method : default_method(TaskKind::regression));
  ChosenOptions chosen = choose_options(method, r.fit.options, {r.preset, r.tune});
  if (kind) {
    check_network_flags({{r.fit.options, chosen.options}}, *kind);
    check_method(method, chosen.options, *kind, task);
    check_likelihood(method, chosen.options, r.fit.likelihood);
    check_bounds_of_method(method, r.fit.bounds);
  }
  if (!r.preset.empty() && find_preset(method, r.preset, chosen.options) == nullptr)
    misuse(fmt::format("expected a method with the preset '{}'; received '{}'; {} have it (--method)",
                       foreign_text(r.preset), method.name, fmt::join(methods_with(r.preset), ", ")));
  const bool by_target =
      !named && !task && &default_method(TaskKind::regression) != &default_method(TaskKind::classification);
  return {std::move(r), &method, std::move(chosen), by_target};
}

std::string dry_run_of(const EarlyFit& fit) {
  nlohmann::json dry = recipe(fit.request.fit, *fit.method, fit.chosen.options, fit.chosen.tune);
  if (fit.by_target) dry["notes"] = {method_by_target()};
  return with_flags(std::move(dry)).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

CompareRequest compare_of(const Parsed& p) {
  CompareRequest r = p.compare;
  r.fit = fit_options(p.compare_flags, r.fit);
  if (!r.fit.network_from.empty())
    misuse(
        "expected --network-from with fit; received it with compare, whose fits train their own; leave it "
        "out");
  if (r.folds > 0 && (r.repeats > 1 || p.compare_flags.given("test_fraction")))
    misuse(
        "expected --cross-validate without --repeats and --test-fraction; received both; the folds are the "
        "test "
        "parts");
  const std::optional<InputKind> kind = kind_before(r.fit, r.data);
  check_request(r.fit, p.compare_flags, kind, /*data_follow=*/true);
  r.named = p.compared != every_method();
  std::vector<MethodFlags> flags;
  for (const MethodInfo* method : methods_of(p.compared)) {
    const nlohmann::json given = p.compare_flags.set_options(*method);
    flags.push_back({given, preset_options(*method, p.preset, given)});
    r.methods.push_back({method->name, flags.back().resolved});
  }
  if (kind) check_network_flags(flags, *kind);
  return r;
}

}  // namespace slimbayes::cli
