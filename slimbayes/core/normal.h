#pragma once

namespace slimbayes {

/// Returns the quantile of the standard normal distribution at probability p. The relative error is below
/// 1e-12 for p > 1e-300. Throws std::invalid_argument unless 0 < p < 1.
double normal_quantile(double p);

}  // namespace slimbayes
