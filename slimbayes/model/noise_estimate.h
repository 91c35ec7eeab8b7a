#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/model/model_parts.h"

namespace slimbayes {

nlohmann::json to_json(const NoiseEstimate& noise);
/// Reads what to_json() wrote. Throws std::invalid_argument for a negative variance.
NoiseEstimate noise_from_json(const nlohmann::json& json);

/// Returns the variance v >= 0 that maximises sum_i weight_i log N(residuals_i; 0, var_i + v). It is 0 if no
/// residuals_i^2 exceeds var_i. Otherwise it is above 0 if some var_i is 0, because a Gaussian of variance 0
/// has no density. residuals [n]; var [n], at least 0; weight [n], positive; n > 0.
double noise_variance(const at::Tensor& residuals, const at::Tensor& var, const at::Tensor& weight);

}  // namespace slimbayes
