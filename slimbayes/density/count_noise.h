#pragma once

#include "slimbayes/density/count.h"

namespace slimbayes {

/// What makes a count vary more than Poisson(rate) does in one row. With the rate m,
/// y = 0 with the probability `zero_share`, else y ~ NB2(mean m, variance m + dispersion m^2), the negative
/// binomial distribution (Cameron and Trivedi 1998, section 3.3; zero inflation: Lambert 1992). The negative
/// binomial is Poisson(m g) with g ~ Gamma of the mean 1 and the variance `dispersion`. At 0 and 0 the count
/// is Poisson(m).
struct CountNoise {
  double dispersion = 0;  // >= 0
  double zero_share = 0;  // 0 <= zero_share < 1

  bool is_poisson() const { return dispersion == 0 && zero_share == 0; }
};

// The count of one row whose rate is log-normal. Where `noise` is Poisson's, the last two are count_cdf and
// count_quantile of density/count.h. All throw std::invalid_argument for a noise out of range.

/// Returns log P(y) for a whole number y >= 0. The relative error of P is below 1e-8 for counts and rates up
/// to 1e6. Throws std::invalid_argument unless the moments of the log rate are finite and y >= 0.
double count_log_prob(const LogRate& rate, const CountNoise& noise, double y);

/// Returns P(count <= k) for a whole number k, with an absolute error below 1e-8; 0 if k is negative.
double count_cdf(const LogRate& rate, const CountNoise& noise, double k);

/// Returns the least whole number at which the cdf reaches p; beyond 1e13 it is exact to 1e-12 of itself
/// alone, infinite where it overflows, and NaN for a log rate that is not finite. Throws
/// std::invalid_argument unless 0 < p < 1.
double count_quantile(const LogRate& rate, const CountNoise& noise, double p);

/// Returns log C(y + r - 1, y) r^-y for r = 1 / dispersion, the factor of the negative binomial
/// probability that does not depend on the rate: sum over j < y of log(1 + j dispersion), minus log y!. It
/// tends to -log y! as the dispersion tends to 0.
double log_rising_factor(double y, double dispersion);

}  // namespace slimbayes
