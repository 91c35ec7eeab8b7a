#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/catalog/fit_options.h"

namespace slimbayes::cli {

/// What the tool asks of the engine: plain data, checked as far as that is possible without tensors.
inline constexpr int kAllCores = 0;

struct FitRequest {
  std::string train;
  FitOptions fit;      // `options` are those that flags set
  std::string preset;  // "paper" or empty
  bool tune = false;   // the options with a grid that no flag sets
  std::string model = "model.safetensors";
  std::string valid;  // a file of its own; empty: the fraction
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
  std::string ood;                   // data that are known to be foreign; empty: none
  std::string split;                 // a part of the fitted data; empty: everything
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
  std::string data;
  std::vector<Entry> methods;
  bool named = false;  // else those that take the data
  int seeds = 5;
  FitOptions fit;  // of each, but for method, options and seed
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
  int threads = kThreadsOfMethod;
  uint64_t table_memory = 0;  // bytes that reading data may take; 0: what the library allows by itself
};

}  // namespace slimbayes::cli

/// The one symbol of the plugin `slimbayes_commands`: runs a request and returns the exit code. Never throws.
extern "C" int slimbayes_run(const slimbayes::cli::Request& request);
