// The command line, parsed without tensors: CLI11 reads it, the catalogue of methods adds each method's own
// flags. Words are looked up before CLI11 sees them, so that a mistyped one is answered by its neighbour and
// not by its consequence.
#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cli/flags.h"
#include "cli/help.h"
#include "cli/revision.h"
#include "slimbayes/catalog/nearest.h"

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

/// That a flag is an option of other methods than the one at hand, if it is.
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

/// The command that the words name, after a look at every word that should be known.
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

/// What decides a fit beside its tables, its seed and this program, every default filled in.
std::string recipe(const FitRequest& r, const nlohmann::json& options) {
  const SplitRequest& rows = r.rows;
  const nlohmann::json inputs = {
      {"split", rows.split},
      {"split_seed", rows.split_seed},
      {"valid_fraction", rows.valid_fraction},
      {"test_fraction", rows.test_fraction},
      {"scale", rows.scale.empty() ? inner_method(find_method(r.method), options).input_scale : rows.scale},
      {"scale_on", rows.scale_on},
      {"ignore", rows.ignore},
      {"categorical", rows.categorical},
      {"likelihood", name_of(rows.likelihood)},
      {"domain", rows.domain}};
  const nlohmann::json all = {{"method", r.method},
                              {"options", options},
                              {"inputs", inputs},
                              {"tune", r.tune},
                              {"calibrate", r.calibrate},
                              {"calibration_fraction", r.calibration_fraction},
                              {"noise_folds", rows.noise_folds}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Command chosen(const std::string& name, Parsed& p) {
  if (name == "methods") return p.methods;
  if (name == "describe") return p.describe;
  Request request{{}, p.threads, p.table_memory};
  const auto check_target = [](const std::string& target, const SplitRequest& rows) {
    if (target.empty() && rows.likelihood != LikelihoodKind::cox)
      misuse("expected --target COLUMN, the column to predict; received none");
  };
  if (name == "fit") {
    check_target(p.fit.target, p.fit.rows);
    const MethodInfo& method = find_method(p.fit.method);
    p.fit.method = method.name;
    p.fit.given = p.fit_flags.set_options(method);
    p.fit.preset = p.preset;
    const nlohmann::json options = preset_options(method, p.preset, p.fit.given);
    if (p.tune) p.fit.tune = tunable_options(method, p.fit.given);
    request.command = p.fit;
    if (p.preset == "paper" && inner_method(method, options).paper_preset.empty())
      misuse(fmt::format("expected a method with a paper's preset; received '{}'; leave --preset out",
                         method.name));
    if (p.dry_run) return ShowText{recipe(p.fit, options)};
  } else if (name == "compare") {
    check_target(p.compare.target, p.compare.rows);
    p.compare.named = p.compared != every_method();
    for (const MethodInfo* method : methods_of(p.compared)) {
      p.compare.methods.push_back({method->name,
                                   preset_options(*method, p.preset, p.compare_flags.set_options(*method)),
                                   method->seeded});
    }
    request.command = p.compare;
  } else if (name == "predict") {
    request.command = p.predict;
  } else if (name == "evaluate") {
    request.command = p.evaluate;
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
    root.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    return ShowText{root.help()};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    const std::string which = commanded ? "slimbayes " + app.get_name() : "slimbayes";
    misuse(fmt::format("{}; see `{} --help`", error.what(), which));
  }
  return chosen(first, parsed);
}

}  // namespace slimbayes::cli
