// Parses the command line without the tensor library. CLI11 reads it, and the catalogue of methods adds each
// method's own flags. Commands and flags are looked up before CLI11 sees them, so that the error message for
// a mistyped one suggests its nearest name.
#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "cli/flags.h"
#include "cli/help.h"
#include "cli/revision.h"
#include "cli/usage.h"
#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/recipe.h"

namespace slimbayes::cli {
namespace {

[[noreturn]] void misuse(const std::string& text) { throw std::invalid_argument(text); }

Words names_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns a hint that the flag is an option of other methods, if it is.
std::optional<std::string> elsewhere(const std::string& flag) {
  std::string option = flag.substr(2);
  std::ranges::replace(option, '-', '_');
  Words methods;
  for (const MethodInfo& info : method_catalog()) {
    if (std::ranges::find(info.options, option, &OptionDoc::name) != info.options.end())
      methods.push_back(info.name);
  }
  if (methods.empty()) return std::nullopt;
  return fmt::format("an option of --method {}", fmt::join(methods, ", "));
}

/// Returns the command that the first word names. Throws for an unknown command or flag.
CLI::App& known_command(CLI::App& root, const Words& words) {
  Words commands;
  for (const CLI::App* app : root.get_subcommands({})) commands.push_back(app->get_name());
  const std::string& word = words.front();
  if (std::ranges::find(commands, word) == commands.end()) {
    misuse(fmt::format("expected a command; received '{}'; {}", word, nearest_hint(word, commands)));
  }
  CLI::App& app = *root.get_subcommand(word);
  const Words flags = names_of(app);
  for (const std::string& given : words) {
    const std::string name = given.substr(0, given.find('='));
    if (!name.starts_with("--") || name == "--" || std::ranges::find(flags, name) != flags.end()) continue;
    const bool fits = word == "fit" || word == "compare";
    misuse(fmt::format("expected a flag of `slimbayes {}`; received '{}'; {}", word, name,
                       (fits ? elsewhere(name) : std::nullopt).value_or(nearest_hint(name, flags))));
  }
  return app;
}

/// Returns the options of a fit as flags set them, without the method's own options.
FitOptions fit_options(const OptionFlags& flags, const FitOptions& defaults) {
  nlohmann::json given = flags.set_options(option_docs(defaults));
  nlohmann::json all = options_to_json(defaults);
  all.update(given);
  FitOptions fit = options_from_json<FitOptions>(all, "fit");
  fit.method = defaults.method;
  fit.seed = defaults.seed;
  fit.level = defaults.level;
  return fit;
}

/// Returns the kind of input. Empty for a file whose name is not that of a table: only its content tells
/// whether it holds images.
std::optional<InputKind> kind_before(FitOptions fit, const std::string& data) {
  const std::string images = fit.format == "auto" ? image_format(data) : "";
  if (!images.empty()) fit.format = images;
  const InputKind kind = input_kind(fit);
  const bool unknown =
      kind == InputKind::table && fit.format == "auto" && data != "-" && !is_table_name(data);
  return unknown ? std::nullopt : std::optional(kind);
}

/// Throws for a flag on the data beside --network-from, whose model decides what an example is.
void check_alone_with_network(const OptionFlags& flags) {
  const Words own = {"network_from", "calibrate", "calibration_fraction"};
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

/// Checks what can be checked before the data are read.
void check_request(const FitOptions& fit, const OptionFlags& flags, std::optional<InputKind> kind) {
  check_fractions(fit);
  if (!fit.network_from.empty()) return check_alone_with_network(flags);
  if (flags.given("calibration_fraction") && fit.calibrate == "none")
    misuse("expected --calibrate with --calibration-fraction; received none; add --calibrate conformal");
  if (!kind) return;
  check_sections(fit, *kind);
  check_columns(fit, *kind);
}

/// The options of a method: those that flags set, and all of them.
struct MethodFlags {
  nlohmann::json given, resolved;
};

/// Throws for a network option that was set by a flag and that no network of these methods uses.
void check_network_flags(const std::vector<MethodFlags>& methods, InputKind kind) {
  const std::vector<std::string> known = networks_for(kind);
  const auto takes = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  for (const OptionDoc& doc : option_docs<NetworkOptions>()) {
    std::string unused;
    bool used = false;
    for (const MethodFlags& method : methods) {
      if (!method.given.contains(doc.name)) continue;
      const std::string name = network_name(method.resolved.at("network").get<std::string>(), kind);
      // A network that does not take this kind of input is refused by a later check.
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

/// Returns the note of a dry run whose method is not known.
std::string method_by_target() {
  return fmt::format(
      "the target's column, which a dry run does not read, decides the method: {} for numbers, as shown, "
      "{} for classes; --method or --likelihood fixes it",
      default_method(TaskKind::regression).name, default_method(TaskKind::classification).name);
}

Command chosen(const std::string& name, Parsed& p) {
  if (name == "methods") return p.methods;
  if (name == "describe") return p.describe;
  Request request{{}, p.threads, p.table_memory};
  if (name == "fit") {
    FitRequest& r = p.fit;
    r.fit = fit_options(p.fit_flags, r.fit);
    const bool kept = !r.fit.network_from.empty();  // that model knows the kind of input
    const std::optional<InputKind> kind = kept ? std::nullopt : kind_before(r.fit, r.train);
    check_request(r.fit, p.fit_flags, kind);
    if (p.valid->count() > 0 && p.fit_flags.given("valid_fraction"))
      misuse("expected --valid or --valid-fraction; received both; leave one of them out");
    const bool named = !r.fit.method.empty();
    const std::optional<TaskKind> task = task_known(r.fit, kind.value_or(InputKind::table));
    const MethodInfo& method = named  ? find_method(r.fit.method)
                               : kept ? default_method_of_network()
                                      : default_method(task.value_or(TaskKind::regression));
    if (named) r.fit.method = method.name;
    // Without --method, fit has the flags of the default method for regression (with --network-from, for a
    // network); an option that the method of another task lacks is refused below.
    r.fit.options = p.fit_flags.set_options(named || kept ? method : default_method(TaskKind::regression));
    const nlohmann::json options = preset_options(method, r.preset, r.fit.options);
    if (kind) {
      check_network_flags({{r.fit.options, options}}, *kind);
      check_method(method, options, *kind, task);
    }
    if (r.tune) tunable_options(method, r.fit.options);  // throws if there is no option to tune
    if (!r.preset.empty() && find_preset(method, r.preset, options) == nullptr)
      misuse(fmt::format("expected a method with the preset '{}'; received '{}'; leave --preset out",
                         r.preset, method.name));
    if (p.dry_run) {
      const std::vector<std::string> tuned =
          r.tune ? tunable_options(method, r.fit.options) : std::vector<std::string>{};
      nlohmann::json dry = recipe(r.fit, method, options, tuned);
      if (!named && !task) dry["notes"] = {method_by_target()};
      return ShowText{dry.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
    }
    request.command = r;
  } else if (name == "compare") {
    CompareRequest& r = p.compare;
    r.fit = fit_options(p.compare_flags, r.fit);
    if (!r.fit.network_from.empty())
      misuse(
          "expected --network-from with fit; received it with compare, whose fits train their own; leave it "
          "out");
    const std::optional<InputKind> kind = kind_before(r.fit, r.data);
    check_request(r.fit, p.compare_flags, kind);
    r.named = p.compared != every_method();
    std::vector<MethodFlags> flags;
    for (const MethodInfo* method : methods_of(p.compared)) {
      const nlohmann::json given = p.compare_flags.set_options(*method);
      flags.push_back({given, preset_options(*method, p.preset, given)});
      r.methods.push_back({method->name, flags.back().resolved});
    }
    if (kind) check_network_flags(flags, *kind);
    request.command = r;
  } else if (name == "predict") {
    request.command = p.predict;
  } else if (name == "evaluate") {
    request.command = p.evaluate;
  } else if (name == "update" || name == "forget") {
    request.command = name == "update" ? p.update : p.forget;
  } else if (name == "merge") {
    request.command = p.merge;
  } else if (name == "generate") {
    request.command = p.generate;
  } else {
    request.command = p.demo;
  }
  return request;
}

}  // namespace

Command parse_arguments(const Words& words) {
  CLI::App root("slimbayes: honest uncertainty for neural networks by slim Bayesian structure", "slimbayes");
  root.formatter(help_formatter());
  const std::string built_from = *revision() ? fmt::format(" ({})", revision()) : "";
  root.set_version_flag("--version", "slimbayes " SLIMBAYES_VERSION + built_from);
  root.require_subcommand(1);
  Parsed parsed;
  const bool commanded = !words.empty() && !words.front().starts_with("-");
  const std::string first = commanded ? words.front() : "";
  add_commands(root, parsed, words);
  root.footer(
      "Each command explains itself: slimbayes fit --help\n\nExamples:\n"
      "  slimbayes demo\n"
      "  slimbayes fit houses.csv --target price --test-fraction 0.1\n"
      "  slimbayes predict model.safetensors new.csv --out answers.csv\n"
      "Exit codes: 0 done, 1 failed, 2 wrong use or bad input, 130 interrupted.");
  if (words.empty()) misuse("expected a command; received none; see `slimbayes --help`");
  CLI::App& app = commanded ? known_command(root, words) : root;
  if (!commanded && words.front() != "--help" && words.front() != "-h" && words.front() != "--version") {
    misuse(fmt::format("expected a command, --help or --version; received '{}'; see `slimbayes --help`",
                       words.front()));
  }
  try {
    const Words joined = (first == "compare" ? parsed.compare_flags : parsed.fit_flags).joined(words);
    root.parse(Words(joined.rbegin(), joined.rend()));  // CLI11 reads them from the back
  } catch (const CLI::CallForHelp&) {
    return ShowText{root.help()};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    misuse(usage_text(error, app));
  }
  return chosen(first, parsed);
}

}  // namespace slimbayes::cli
