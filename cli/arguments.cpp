// Parses the command line without the tensor library. CLI11 does the parsing; the flags of each method come
// from the catalogue. Commands and flags are looked up before CLI11 sees them, so that the error message for
// a mistyped name suggests the nearest one.
#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cli/flags.h"
#include "cli/help.h"
#include "cli/revision.h"
#include "cli/training_request.h"
#include "cli/usage.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

Words names_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Returns a hint such as "an option of --method dbk, vbll" if any method has an option of this name; else
/// nothing.
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

/// Returns the CLI11 command that the first word names. Throws std::invalid_argument for an unknown command,
/// or if another word is a flag that the command does not have.
CLI::App& known_command(CLI::App& root, const Words& words) {
  Words commands;
  for (const CLI::App* app : root.get_subcommands({})) commands.push_back(app->get_name());
  const std::string& word = words.front();
  if (std::ranges::find(commands, word) == commands.end()) {
    misuse(fmt::format("expected a command; received '{}'; {}", foreign_text(word),
                       nearest_hint(word, commands)));
  }
  CLI::App& app = *root.get_subcommand(word);
  const Words flags = names_of(app);
  for (const std::string& given : words) {
    const std::string name = given.substr(0, given.find('='));
    if (!name.starts_with("--") || name == "--" || std::ranges::find(flags, name) != flags.end()) continue;
    const bool fits = word == "fit" || word == "compare";
    misuse(fmt::format("expected a flag of `slimbayes {}`; received '{}'; {}", word, foreign_text(name),
                       (fits ? elsewhere(name) : std::nullopt).value_or(nearest_hint(name, flags))));
  }
  return app;
}

/// Returns the values of the parsed command `name` as a Command, checked as far as possible without data.
Command command_named(const std::string& name, const Parsed& p) {
  if (name == "methods") return p.methods;
  if (name == "describe") return p.describe;
  if (name == "fit" && p.dry_run) return ShowText{dry_run_of(fit_of(p))};
  const auto request = [&](auto command) {
    return Request{.command = std::move(command),
                   .threads = p.threads,
                   .device = p.device,
                   .table_memory = p.table_memory};
  };
  const auto with_threads = [&](auto command) {
    command.fit.threads = p.threads;
    return request(std::move(command));
  };
  if (name == "fit") return with_threads(fit_of(p).request);
  if (name == "compare") return with_threads(compare_of(p));
  const auto of_files = [&](auto command) {
    command.data = command.files.front();
    return request(std::move(command));
  };
  if (name == "predict") return of_files(p.predict);
  if (name == "evaluate") return of_files(p.evaluate);
  if (name == "report") return of_files(p.report);
  if (name == "explain") return of_files(p.explain);
  if (name == "update") return request(p.update);
  if (name == "forget") return request(p.forget);
  if (name == "merge") return request(p.merge);
  if (name == "export") return request(p.exported);
  if (name == "generate") return request(p.generate);
  if (name == "rank-advice") return request(p.rank_advice);
  if (name == "bounds") return request(p.bounds);
  return request(p.demo);
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
                       foreign_text(words.front())));
  }
  try {
    const Words joined = (first == "compare" ? parsed.compare_flags : parsed.fit_flags).joined(words);
    root.parse(Words(joined.rbegin(), joined.rend()));  // CLI11 expects the words in reverse order
  } catch (const CLI::CallForHelp&) {
    return ShowText{root.help()};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    misuse(usage_text(error, app));
  }
  return command_named(first, parsed);
}

}  // namespace slimbayes::cli
