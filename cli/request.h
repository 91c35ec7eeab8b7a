#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/methods.h"

namespace slimbayes::cli {

// What the tool asks of the engine, the plugin with the tensor library: one struct per command. They are
// plain data that were checked as far as possible without tensors.

/// The value of `threads` that stands for all cores.
inline constexpr int kAllCores = 0;

/// This process among several that share a command, and the name of their process group (train/collective.h).
struct RankOfGroup {
  std::string group;  // empty: this process alone
  int64_t number = 0, size = 1;
};

struct FitRequest {
  std::string train;               // the first of `files`
  std::vector<std::string> files;  // tables that are read as one, or one file of images
  FitOptions fit;                  // `options` holds only options that were set by flags
  std::string preset;              // "paper" or empty
  bool tune = false;               // tune all options that have a grid and were not set by flags
  std::string model = "model.safetensors";
  std::string valid;  // file of validation data; empty: use the validation fraction
  bool resume = false, json = false;
  double checkpoint_every = 2;    // seconds between two checkpoints
  std::string cache;              // folder for encoded rows that are not to stay in memory; empty: none
  int64_t shuffle_rows = 262144;  // rows that are shuffled together then
  std::string parallel = "auto";  // what the ranks share: "jobs", "rows", or as their number says
  RankOfGroup rank = {};
};

struct PredictRequest {
  std::string model, data;
  std::vector<std::string> files;  // tables that are read as one, or one file of images; `data`: the first
  std::string out = "-";
  std::vector<std::string> keep;          // columns of the data to copy into the output
  std::vector<std::string> rename, fill;  // --rename and --fill (data/table/changes.h)
  std::string maps;                       // folder for the maps of a segmentation; empty: none
  bool keep_outside = false;
  bool parts = false;                // also write parts of the sd that are not aleatoric and epistemic
  std::string on_bad_row = "blank";  // for rows without a finite answer: or "skip", "error"
  std::vector<double> levels = {0.95};
  bool level_given = false;            // whether --level was, with any value
  std::vector<double> quantiles = {};  // probabilities in (0, 1) of quantiles to write
  std::string split;                   // part of the fit's data to answer, such as "test"; empty: all
  std::string sets = "randomised";     // sets of classes: or "deterministic"
  bool json = false;                   // print JSON in place of CSV; with `out` on stdout alone
  // Of a model of several targets:
  int64_t draws = 0;                     // joint draws of each row to write in place of answers; 0: none
  uint64_t seed = 0;                     // of these draws
  bool region = false;                   // also write the joint region of the level
  std::vector<std::string> probability;  // conditions whose joint probability is a column; empty: none
};

struct EvaluateRequest {
  std::string model, data;
  std::vector<std::string> files;  // tables that are read as one, or one file of images; `data`: the first
  std::string ood;                 // file of foreign data; empty: none
  std::string split;               // part of the fit's data to score, such as "test"; empty: all
  int folds = 0;                   // of a cross-validation of the model's method; 0: score the model
  std::string plots;               // folder for plots; empty: none
  std::vector<std::string> rename, fill;  // --rename and --fill, for both files
  std::string on_bad_row = "error";       // for rows without a finite answer: or "skip"
  bool conditional = false;               // estimate the excess risk of the coverage
  std::vector<std::string> by;            // columns whose groups are scored; empty: none
  double level = 0.95;
  std::string sets = "randomised";  // sets of classes: or "deterministic"
  bool json = false;
};

struct ReportRequest {
  std::string model, data;
  std::vector<std::string> files;  // tables that are read as one, or one file of images; `data`: the first
  std::string out = "report.html";
  std::string split;  // part of the fit's data to score, or "all"; empty: see FactsOptions
  std::vector<std::string> rename, fill;  // --rename and --fill
  double level = 0.95;
  bool json = false;  // print the facts in place of writing the page
};

struct ExplainRequest {
  std::string model, data;
  std::vector<std::string> files;         // tables that are read as one; `data`: the first
  std::vector<std::string> columns;       // whose partial dependence is computed
  std::string groups;                     // "a,b;c,d", "auto", or empty: each column alone
  int64_t repeats = 5, rows = 2000;       // permutations of each group; rows to permute
  std::string out;                        // file of a table; empty: none
  std::vector<std::string> rename, fill;  // --rename and --fill
  double level = 0.95;
  bool json = false;
};

struct UpdateRequest {
  std::string model, data;
  std::string out;                   // model file to write; empty: `model`
  bool forget = false;               // true: remove the rows; false: add them
  bool shard = false;                // write a model that has learned these rows alone
  std::string on_unknown = "error";  // for rows to forget that the model never learned: or "skip"
  bool duplicates = false;           // with "skip": forget even if only some of the rows are known
  bool json = false;
};

struct MergeRequest {
  std::vector<std::string> models;  // at least two
  std::string out;                  // model file to write
  bool json = false;
};

struct ExportRequest {
  std::string model, out;
  int64_t draw = 0;                  // of the weights, from 1; 0: their centre
  std::string onnx;                  // file of an ONNX graph to write in the place of `out`; empty: none
  std::optional<double> level = {};  // of the graph's interval; none: the default
  bool encoded = false;              // whether the graph has one matrix as its input
  bool json = false;
};

struct CompareRequest {
  std::string data;
  std::vector<MethodChoice> methods;
  bool named = false;  // true: fail if one cannot take the data; false: leave it out
  int seeds = 5;
  int repeats = 1;  // random splits
  int folds = 0;    // of a cross-validation; 0: none
  FitOptions fit;   // options of every fit; its method, options and seed are unused
  bool json = false;
  RankOfGroup rank = {};
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
  int threads = kThreadsOfMethod;
};

template <class V>
void describe(DemoRequest& o, V& v) {
  v("steps", o.steps, "optimiser steps for each network", Range{1, 1e9}, "");
  v("rows", o.rows, "rows of the synthetic data", Range{100, 6000}, "");
}

struct RankAdviceRequest {
  std::string model;
  double energy = 0.9;  // share of the sum of squared singular values to keep
  std::string plots;    // folder for spectra.svg; empty: none
  bool json = false;
};

struct BoundsRequest {
  std::string model, data;
  std::string split;                      // part of the fit's data; empty: train, or all of other data
  std::vector<int64_t> ranks;             // of the truncation; empty: by energy
  double delta = 0.05;                    // probability with which the PAC-Bayes bound may fail
  int64_t draws = 100, tried = 1;         // networks drawn for the risk; priors that were tried
  double clip = 0;                        // error that counts as a full failure; 0: not given
  double c0 = 1;                          // constant of the Gaussian complexity
  std::vector<std::string> rename, fill;  // --rename and --fill
  bool json = false;
};

struct Request {
  std::variant<FitRequest, PredictRequest, EvaluateRequest, ReportRequest, ExplainRequest, UpdateRequest,
               MergeRequest, ExportRequest, CompareRequest, GenerateRequest, DemoRequest, RankAdviceRequest,
               BoundsRequest>
      command;
  int threads = kThreadsOfMethod;
  std::string device = "cpu";  // where networks compute (FitOptions::device)
  uint64_t table_memory = 0;   // memory for reading tables, in bytes; 0: the library's default
  RankOfGroup rank = {};
};

/// Runs a request and returns its exit code. Does not throw: errors are printed on stderr. In the plugin and
/// in the Python module, not in the tool.
int run_request(const Request& request);

}  // namespace slimbayes::cli

/// The only function that the plugin `slimbayes_commands` exports. As run_request().
extern "C" int slimbayes_run(const slimbayes::cli::Request& request);
