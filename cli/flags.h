#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/option_flags.h"

namespace slimbayes::cli {

using Words = std::vector<std::string>;

/// Returns the methods with these comma-separated names or aliases, each once. Throws std::invalid_argument
/// for an unknown name and suggests the nearest one.
std::vector<const MethodInfo*> methods_of(const std::string& list);

/// Returns the names of all methods, comma-separated.
std::string every_method();

/// The variables that the parser writes. It must outlive the App.
struct Parsed {
  FitRequest fit;
  PredictRequest predict;
  EvaluateRequest evaluate;
  UpdateRequest update, forget;
  MergeRequest merge;
  CompareRequest compare;
  GenerateRequest generate;
  DemoRequest demo;
  ListMethods methods;
  Describe describe;
  std::string compared = every_method();
  int threads = kThreadsOfMethod;
  uint64_t table_memory = 0;
  OptionFlags fit_flags, compare_flags;  // flags of the methods' options and of FitOptions
  std::string preset;                    // --preset of compare; fit has its own
  bool dry_run = false;                  // --dry-run of fit
  CLI::Option* valid = nullptr;          // the flag --valid FILE
};

/// Throws std::invalid_argument with this text.
[[noreturn]] void misuse(const std::string& text);

/// Add commands with their flags, help and examples to `root`. The first adds the commands on a model file
/// (predict, evaluate, update, forget, merge), the second methods, describe, generate and demo.
void add_model_commands(CLI::App& root, Parsed& parsed);
void add_other_commands(CLI::App& root, Parsed& parsed);

/// Adds every command with its flags, help and examples to `root`. `words` is the command line, which decides
/// whose methods' flags fit and compare take.
void add_commands(CLI::App& root, Parsed& parsed, const Words& words);

}  // namespace slimbayes::cli
