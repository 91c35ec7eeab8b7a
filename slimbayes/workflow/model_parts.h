#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/core/conformal.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/method/method.h"
#include "slimbayes/workflow/noise_estimate.h"

namespace slimbayes {

/// The parts of a Model, made by a fit or read from a model file. `encoder` and `fitted` are never null.
struct ModelParts {
  std::string method;
  nlohmann::json options;  // every option of the method
  FitOptions fit;
  std::shared_ptr<const InputEncoder> encoder;
  std::shared_ptr<const Fitted> fitted;
  SplitRows split;
  std::string data_hash;        // Model::data_hash()
  ConformalScores calibration;  // has no groups if the model was not calibrated
  at::Tensor probes;            // event_probes() of the training events [p, d]; undefined for other tasks
  /// pixel_mean() of the training images (data/input_scores.h); undefined for other inputs.
  at::Tensor pixel_mean;
  nlohmann::json tuning;  // Tuned::report; null if nothing was tuned
  NoiseEstimate noise;
  /// row_hashes() of the rows in the posterior, sorted, for Model::without; empty for a method that cannot be
  /// updated.
  std::vector<int64_t> learned;
  bool shard = false;                // Model::is_shard()
  std::string source = "the model";  // name of its file, for messages
};

}  // namespace slimbayes
