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
  /// Adds a flag for each option that has none yet, under the heading of its section; without a section,
  /// under `heading`. This object must exist until the parse has ended.
  void add(CLI::App& command, const std::vector<OptionDoc>& docs, const std::string& heading = "");

  /// Adds flags for the options of these methods. An option of several methods gets one flag.
  void add(CLI::App& command, const std::vector<const MethodInfo*>& methods);

  /// Restricts --help to the options that most methods have, under their own heading. The other options still
  /// parse.
  void show_shared();

  /// Returns the words with each boolean option joined to its value: `--flip` and `--flip true` become
  /// `--flip=true`. Otherwise the parser could take the next word, such as a file's name, for the value.
  std::vector<std::string> joined(const std::vector<std::string>& words) const;

  /// Returns the values of the options in `docs` that were set by flags.
  nlohmann::json set_options(const std::vector<OptionDoc>& docs) const;

  /// Returns the method's options that were set by flags, including those of its inner method. Throws
  /// std::invalid_argument if both --steps and --epochs are given.
  nlohmann::json set_options(const MethodInfo& method) const;

  /// Whether the flag of this option was given.
  bool given(const std::string& option) const { return find(option) != nullptr; }

 private:
  struct Flag {
    std::string name, text;
    std::vector<std::string> list;
    CLI::Option* option = nullptr;
    bool boolean = false;
    bool of_method = false;  // an option of a method, which has no section
  };
  /// Returns the flag of this option if it was given, else nullptr.
  const Flag* find(const std::string& option) const;

  std::deque<Flag> flags_;  // a deque keeps addresses stable: the parser writes into its elements
};

}  // namespace slimbayes::cli
