#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/option_flags.h"

namespace slimbayes::cli {

using Words = std::vector<std::string>;

/// Returns the methods that a comma-separated list names, by name or alias, each once. Throws
/// std::invalid_argument for an unknown name and suggests the nearest one.
std::vector<const MethodInfo*> methods_of(const std::string& list);

/// Returns the names of all methods, comma-separated.
std::string every_method();

/// The variables to which the parser writes the values of flags. CLI11 keeps references to them, so this
/// object must outlive the CLI::App.
struct Parsed {
  FitRequest fit;
  PredictRequest predict;
  EvaluateRequest evaluate;
  ReportRequest report;
  ExplainRequest explain;
  UpdateRequest update, forget;
  MergeRequest merge;
  ExportRequest exported;
  CompareRequest compare;
  GenerateRequest generate;
  DemoRequest demo;
  RankAdviceRequest rank_advice;
  BoundsRequest bounds;
  ListMethods methods;
  Describe describe;
  std::string compared = every_method();
  int threads = kThreadsOfMethod;
  std::string device = "cpu";
  uint64_t table_memory = 0;
  OptionFlags fit_flags, compare_flags;  // flags for the options of methods and of FitOptions
  std::string preset;                    // --preset of compare; that of fit is in `fit`
  bool dry_run = false;                  // --dry-run of fit
  CLI::Option* valid = nullptr;          // the flag --valid FILE
};

/// Throws std::invalid_argument with this message.
[[noreturn]] void misuse(const std::string& text);

/// Add commands with their flags, help and examples to `root`. add_model_commands adds the commands that need
/// a model file (predict, evaluate, report, explain, update, forget, merge, export), add_other_commands adds
/// methods, describe, generate and demo, add_theory_commands adds rank-advice and bounds.
void add_model_commands(CLI::App& root, Parsed& parsed);
void add_report(CLI::App& root, Parsed& parsed);
void add_explain(CLI::App& root, Parsed& parsed);
void add_other_commands(CLI::App& root, Parsed& parsed);
void add_theory_commands(CLI::App& root, Parsed& parsed);

/// Adds every command with its flags, help and examples to `root`. `words` is the command line; fit and
/// compare get the flags of the methods that it names.
void add_commands(CLI::App& root, Parsed& parsed, const Words& words);

}  // namespace slimbayes::cli
