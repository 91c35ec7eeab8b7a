#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

// The requests of the tool to the engine: plain data, checked as far as possible without tensors.

/// As the value of `threads`: use all cores.
inline constexpr int kAllCores = 0;

struct FitRequest {
  std::string train;
  FitOptions fit;      // `options` holds only those that flags set
  std::string preset;  // "paper" or empty
  bool tune = false;   // tune the options that have a grid and no flag sets
  std::string model = "model.safetensors";
  std::string valid;  // file of validation data; empty: use the validation fraction
  bool resume = false, json = false;
  double checkpoint_every = 2;  // seconds between two checkpoints
};

struct PredictRequest {
  std::string model, data;
  std::string out = "-";
  std::vector<std::string> keep;          // data columns to write before the answer
  std::vector<std::string> rename, fill;  // changes of the data's columns (data/table/changes.h), as given
  bool keep_outside = false;
  bool parts = false;                // TableOptions::parts
  std::string on_bad_row = "blank";  // or "skip", "error"
  std::vector<double> levels = {0.95};
  std::string sets = "randomised";  // or "deterministic"
};

struct EvaluateRequest {
  std::string model, data;
  std::string ood;                        // file of foreign data; empty: none
  std::string split;                      // part of the fit's data to score; empty: all data
  std::vector<std::string> rename, fill;  // changes of the columns of both files, as given
  std::string on_bad_row = "error";       // or "skip"
  double level = 0.95;
  std::string sets = "randomised";  // or "deterministic"
  bool json = false;
};

struct UpdateRequest {
  std::string model, data;
  std::string out;                   // model file to write; empty: `model`
  bool forget = false;               // the rows are removed, not added
  bool shard = false;                // the posterior is of these rows alone
  std::string on_unknown = "error";  // for rows to forget that were not learned: or "skip"
  bool duplicates = false;           // also forget rows whose cells equal those of learned rows that stay
  bool json = false;
};

struct MergeRequest {
  std::vector<std::string> models;  // at least two
  std::string out;                  // model file to write
  bool json = false;
};

struct CompareRequest {
  std::string data;
  std::vector<MethodChoice> methods;
  bool named = false;  // the user named the methods; else those that take the data are used
  int seeds = 5;
  FitOptions fit;  // of every fit, except method, options and seed
  bool json = false;
};

struct GenerateRequest {
  std::string name;
  int64_t rows = 2000;
  uint64_t seed = 0;
  double amplitude = 0.4;
  std::string out = "-";
};

struct DemoRequest {
  std::string out = "demo-out";
  std::string share;      // folder with the example table
  int64_t steps = 20000;  // optimiser steps for each network
  int64_t rows = 2000;    // rows of the synthetic data
};

struct Request {
  std::variant<FitRequest, PredictRequest, EvaluateRequest, UpdateRequest, MergeRequest, CompareRequest,
               GenerateRequest, DemoRequest>
      command;
  int threads = kThreadsOfMethod;
  uint64_t table_memory = 0;  // most bytes for reading data; 0: the library's default
};

}  // namespace slimbayes::cli

/// The only symbol that the plugin `slimbayes_commands` exports. Runs a request and returns its exit code.
/// Does not throw.
extern "C" int slimbayes_run(const slimbayes::cli::Request& request);
