#pragma once

#include <vector>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The Gaussian with the moments of an equal mixture of the parts (Lakshminarayanan et al. 2017, section 2.4), [n]
/// each: mean the average mean, aleatoric the average aleatoric variance, epistemic the average epistemic variance
/// plus the variance of the means (divided by the number of parts). Throws std::invalid_argument for no parts or
/// unequal shapes.
Regression mixture(const std::vector<Regression>& parts);

}  // namespace slimbayes
