#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/method/method.h"
#include "slimbayes/model/tuning_report.h"

namespace slimbayes {

/// A lower bound on a model's aleatoric variance, estimated by cross-fitting (fit_with_noise_folds), and
/// notes on it. The estimate is made if there are few validation rows, or if the answers to these rows show
/// that the fitted noise cannot be right. Stored in the model file.
struct NoiseEstimate {
  int64_t folds = 0, rows = 0;  // used for the estimate; 0: there is no estimate
  double var = 0;               // least aleatoric variance of an answer, on the standardised target
  double sd = 0;                // its square root, in the target's units
  bool interrupted = false;     // stopped before the last fold; the earlier folds are used
  std::vector<std::string> notes = {};

  bool empty() const { return notes.empty(); }  // every estimate has a note
};

/// The parts of a Model, made by a fit or read from a model file. The accessors of Model explain them
/// further. `encoder` and `fitted` are never null.
struct ModelParts {
  std::string method;
  nlohmann::json options;  // every option of the method
  FitOptions fit;
  std::shared_ptr<const InputEncoder> encoder;
  std::shared_ptr<const Fitted> fitted;
  SplitRows split;
  std::string data_hash;        // hash of the examples of the fit or, after an update, of the learned rows
  ConformalScores calibration;  // has no groups if the model was not calibrated
  /// The state of the intervals of a model with FitOptions::calibrate "adaptive", which Model::with advances.
  std::optional<AdaptiveScores> adaptive = {};
  GroupCalibration by_group;                 // of these scores; empty without FitOptions::calibrate_by
  ColumnKind by_kind = ColumnKind::numeric;  // of that column
  at::Tensor probes;  // encoded training events [p, d] (event_probes()); undefined for other tasks
  /// Mean of the encoded training images, for the score "distance" (data/input_scores.h); undefined for other
  /// inputs.
  at::Tensor pixel_mean;
  std::optional<TuningReport> tuning = {};  // what tuning tried; empty if nothing was tuned
  NoiseEstimate noise;
  /// One hash (row_hashes) for each row that the posterior contains, sorted. Model::without checks with them
  /// that the model has learned the rows to forget. Empty for a method that cannot be updated.
  std::vector<int64_t> learned;
  bool shard = false;                // true: the posterior lacks the rows of the original fit
  std::string source = "the model";  // name of its file, for messages
  /// Where networks compute the answers: that of the fit, and the CPU for a model from a file, which does not
  /// keep it (Model::on).
  at::Device device = at::kCPU;
};

}  // namespace slimbayes
