#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/export.h"

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

SLIMBAYES_EXPORT nlohmann::json to_json(const NoiseEstimate& noise);
/// Reads what to_json() wrote. Throws std::invalid_argument for a negative variance.
SLIMBAYES_EXPORT NoiseEstimate noise_from_json(const nlohmann::json& json);

/// Returns the variance v >= 0 that maximises sum_i weight_i log N(residuals_i; 0, var_i + v). It is 0 if no
/// residuals_i^2 exceeds var_i. Otherwise it is above 0 if some var_i is 0, because a Gaussian of variance 0
/// has no density. residuals [n]; var [n], at least 0; weight [n], positive; n > 0.
SLIMBAYES_EXPORT double noise_variance(const at::Tensor& residuals, const at::Tensor& var,
                                       const at::Tensor& weight);

}  // namespace slimbayes
