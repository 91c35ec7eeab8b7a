#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// Described options (catalog/option.h) as command-line flags: `learning_rate` becomes `--learning-rate`.
class OptionFlags {
 public:
  /// Adds the flags of options that the command does not have yet, each under the heading of its section,
  /// else under `heading`. Lives as long as the parse.
  void add(CLI::App& command, const std::vector<OptionDoc>& docs, const std::string& heading = "");

  /// The options of some methods, one that several have once.
  void add(CLI::App& command, const std::vector<const MethodInfo*>& methods);

  /// The values of those of these options that flags set.
  nlohmann::json set_options(const std::vector<OptionDoc>& docs) const;

  /// Those of `method`. Throws std::invalid_argument for two budgets.
  nlohmann::json set_options(const MethodInfo& method) const;

  bool given(const std::string& option) const { return find(option) != nullptr; }

 private:
  struct Flag {
    std::string name, text;
    std::vector<std::string> list;
    CLI::Option* option = nullptr;
  };
  /// The flag of this option, where it was given.
  const Flag* find(const std::string& option) const;

  std::deque<Flag> flags_;  // stable addresses: the parser writes into `text` and `list`
};

}  // namespace slimbayes::cli
