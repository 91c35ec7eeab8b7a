#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/task.h"

namespace slimbayes::cli {

/// What the tool asks of the engine: plain data, checked as far as that is possible without tensors.
inline constexpr int kAllCores = 0;
/// As many as suit the method (fit_threads in slimbayes/methods/table_model.h).
inline constexpr int kDefaultThreads = -1;

/// How rows are shared out, common to fit and compare.
struct SplitRequest {
  double valid_fraction = 0.1, test_fraction = 0;
  uint64_t split_seed = 0;
  std::string split = "auto";
  std::string scale;  // empty: the method's own
  std::string scale_on = "train";
  std::optional<LikelihoodKind> likelihood;  // none: by the target's column
  std::string domain;                        // of events
  std::vector<std::string> ignore, categorical;
  int64_t noise_folds = 5;  // where few validation rows choose; 0: none
};

struct FitRequest {
  std::string train, target;
  std::string method = "dbk";
  bool named = false;                               // else the target's task may call for another
  nlohmann::json given = nlohmann::json::object();  // its options that flags set
  std::string preset;                               // "paper" or empty
  std::string model = "model.safetensors";
  std::string valid;  // a table of its own; empty: the fraction
  SplitRequest rows;
  std::string calibrate;  // "conformal"; empty: not
  double calibration_fraction = 0.1;
  std::vector<std::string> tune;  // options to choose by validation NLL
  double level = 0.95;            // of the report's interval
  uint64_t seed = 0;
  bool resume = false, json = false;
  double checkpoint_every = 2;  // seconds
};

struct PredictRequest {
  std::string model, data;
  std::string out = "-";
  std::vector<std::string> keep;  // columns of the data that stand before the answer's
  bool keep_outside = false;
  std::string on_bad_row = "blank";  // or "skip", "error"
  double level = 0.95;
};

struct EvaluateRequest {
  std::string model, data;
  std::string ood;    // a table that is known to be foreign; empty: none
  std::string split;  // a part of the fitted table; empty: every row
  std::string on_bad_row = "error";  // or "skip"
  double level = 0.95;
  bool json = false;
};

struct CompareRequest {
  struct Entry {
    std::string method;
    nlohmann::json options;  // resolved
    bool seeded = true;
  };
  std::string data, target;
  std::vector<Entry> methods;
  bool named = false;  // else those that take the target
  int seeds = 5;
  SplitRequest rows;
  double level = 0.95;
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
  std::string share;      // folder of the example table
  int64_t steps = 20000;  // of each network
  int64_t rows = 2000;    // of the synthetic data
};

struct Request {
  std::variant<FitRequest, PredictRequest, EvaluateRequest, CompareRequest, GenerateRequest, DemoRequest>
      command;
  int threads = kDefaultThreads;
  uint64_t table_memory = 0;  // bytes that reading a table may take; 0: what the library allows by itself
};

}  // namespace slimbayes::cli

/// The one symbol of the plugin `slimbayes_commands`: runs a request and returns the exit code. Never throws.
extern "C" int slimbayes_run(const slimbayes::cli::Request& request);
