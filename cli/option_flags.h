#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

/// The command-line flags of options that are described by OptionDoc (catalog/option.h). The option
/// `learning_rate` becomes the flag `--learning-rate`.
class OptionFlags {
 public:
  /// Adds a flag to the command for each option in `docs` that has none yet. Help shows it under the option's
  /// section or, if it has none, under `heading`. This object must exist until the command line is parsed.
  void add(CLI::App& command, const std::vector<OptionDoc>& docs, const std::string& heading = "");

  /// Adds flags for the options of these methods. Methods that have an option in common share its flag.
  void add(CLI::App& command, const std::vector<const MethodInfo*>& methods);

  /// Makes --help show only those options of methods that most methods have, under a heading of their own.
  /// Flags of the other options are still accepted.
  void show_shared();

  /// Returns the words of the command line with each boolean flag joined to its value: `--flip` and `--flip
  /// true` become `--flip=true`. Otherwise the parser could take the word after `--flip`, such as the name of
  /// a file, for its value.
  std::vector<std::string> joined(const std::vector<std::string>& words) const;

  /// Returns the options in `docs` that the user set by flags, with their values.
  nlohmann::json set_options(const std::vector<OptionDoc>& docs) const;

  /// Returns the options of the method that the user set by flags, including those of the method that it
  /// wraps. If --steps is given, `epochs` is set to 0, so that a preset's epochs do not overrule it. Throws
  /// std::invalid_argument if both --steps and --epochs are given.
  nlohmann::json set_options(const MethodInfo& method) const;

  /// Returns whether the user gave the flag of this option.
  bool given(const std::string& option) const { return find(option) != nullptr; }

 private:
  struct Flag {
    std::string name, text;
    std::vector<std::string> list;
    CLI::Option* option = nullptr;
    bool boolean = false;
    bool of_method = false;  // an option of a method, not of FitOptions
  };
  /// Returns the flag of this option if the user gave it, else nullptr.
  const Flag* find(const std::string& option) const;

  std::deque<Flag> flags_;  // the parser writes into the elements, whose addresses a deque keeps
};

}  // namespace slimbayes::cli
