#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// The catalogue's options of some methods as command-line flags: `learning_rate` becomes `--learning-rate`.
class MethodFlags {
 public:
  /// Adds the flags to `command`, an option that several methods have once. Lives as long as the parse.
  void add(CLI::App& command, const std::vector<const MethodInfo*>& methods);

  /// The options of `method` that flags set. Throws std::invalid_argument for two budgets.
  nlohmann::json set_options(const MethodInfo& method) const;

 private:
  struct Flag {
    std::string name, text;
    CLI::Option* option = nullptr;
  };
  /// The flag of this option, where it was given.
  const Flag* given(const std::string& option) const;

  std::deque<Flag> flags_;  // stable addresses: the parser writes into `text`
};

}  // namespace slimbayes::cli
