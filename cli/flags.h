#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/option_flags.h"

namespace slimbayes::cli {

using Words = std::vector<std::string>;

/// Methods by comma-separated names or aliases, each once. Throws std::invalid_argument with the nearest
/// name.
std::vector<const MethodInfo*> methods_of(const std::string& list);

/// Every method's name, comma-separated.
std::string every_method();

/// Everything that the parser writes into; must outlive the App.
struct Parsed {
  FitRequest fit;
  PredictRequest predict;
  EvaluateRequest evaluate;
  CompareRequest compare;
  GenerateRequest generate;
  DemoRequest demo;
  ListMethods methods;
  Describe describe;
  std::string compared = every_method();
  int threads = kThreadsOfMethod;
  uint64_t table_memory = 0;
  OptionFlags fit_flags, compare_flags;  // of methods and of FitOptions
  std::string preset;                    // of compare
  bool dry_run = false;                  // of fit
  CLI::Option* valid = nullptr;          // --valid FILE
};

/// Gives `root` every command with its flags, help and examples. The words choose the methods whose flags fit
/// and compare take.
void add_commands(CLI::App& root, Parsed& parsed, const Words& words);

}  // namespace slimbayes::cli
