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
  /// Adds a flag for each option that has none yet, under the heading of its section, else under `heading`.
  /// This object must live as long as the parse.
  void add(CLI::App& command, const std::vector<OptionDoc>& docs, const std::string& heading = "");

  /// Adds flags for the options of these methods. An option that several of them have gets one flag.
  void add(CLI::App& command, const std::vector<const MethodInfo*>& methods);

  /// Restricts --help to those options of methods that most methods have, under a heading of their own. The
  /// others still parse.
  void show_shared();

  /// Returns the words with each boolean option and its value joined: `--flip` and `--flip true` become
  /// `--flip=true`. So the parser takes no other word, such as the name of a file, for the value.
  std::vector<std::string> joined(const std::vector<std::string>& words) const;

  /// Returns the values of the options in `docs` that were set by flags.
  nlohmann::json set_options(const std::vector<OptionDoc>& docs) const;

  /// Returns the values of the method's options that were set by flags, those of its inner method included.
  /// Throws std::invalid_argument if both --steps and --epochs are given.
  nlohmann::json set_options(const MethodInfo& method) const;

  /// Whether the flag of this option was given.
  bool given(const std::string& option) const { return find(option) != nullptr; }

 private:
  struct Flag {
    std::string name, text;
    std::vector<std::string> list;
    CLI::Option* option = nullptr;
    bool boolean = false;
    bool of_method = false;  // an option of a method: it has no section
  };
  /// Returns the flag of this option if it was given, else nullptr.
  const Flag* find(const std::string& option) const;

  std::deque<Flag> flags_;  // a deque keeps addresses stable: the parser writes into `text` and `list`
};

}  // namespace slimbayes::cli
