#pragma once

namespace slimbayes {

/// The distribution of the log of a rate in one row: Gaussian. The count of the row is Poisson(rate).
struct LogRate {
  double mean = 0, var = 0;

  double rate_mean() const;  // exp(mean + var / 2)
  double rate_var() const;   // rate_mean^2 (exp(var) - 1)
};

// Of one row what answers/count_distribution.h computes for tensors; there are the formulas.

/// Returns P(count <= k) for a whole number k; 0 if it is negative.
double count_cdf(const LogRate& rate, double k);

/// Returns the least whole number at which the cdf reaches p; beyond 1e13 the quantile of the rate. Throws
/// std::invalid_argument unless 0 < p < 1.
double count_quantile(const LogRate& rate, double p);

}  // namespace slimbayes
