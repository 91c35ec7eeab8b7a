#pragma once

namespace slimbayes {

// The standard Student-t distribution with `dof` > 0 degrees of freedom, of single numbers; an infinite `dof`
// is the standard normal distribution. core/student.h has the same of tensors.

/// Returns the quantile of the standard normal distribution at probability p. The relative error is below
/// 1e-12 for p > 1e-300. Throws std::invalid_argument unless 0 < p < 1.
double normal_quantile(double p);
/// Returns the logarithm of P(Z <= z), with full relative accuracy in both tails.
double log_normal_cdf(double z);
/// Returns e^(x^2) erfc(x), which does not underflow, for x >= 0.
double scaled_erfc(double x);

/// Returns the constant of the log density: its value at 0.
double student_log_constant(double dof);
double student_log_density(double z, double dof);
/// Returns P(T <= z), with full relative accuracy in the left tail. For the right tail use P(T <= -z).
double student_cdf(double z, double dof);
/// Returns the quantile of the probability p. Throws std::invalid_argument unless 0 < p < 1 and dof > 0.
double student_quantile(double p, double dof);
/// Returns the quantile at the normal score z, at which the cdf is Phi(z); |z| beyond 37 counts as 37, where
/// Phi is no longer a normal number.
double student_quantile_at(double z, double dof);
/// Returns the CRPS of the distribution at z. The CRPS of location + scale T at y is scale times that at (y -
/// location) / scale. Throws std::invalid_argument unless dof > 1, below which it is infinite (Jordan,
/// Krueger and Lerch 2019, Evaluating probabilistic forecasts with scoringRules, appendix A).
double student_unit_crps(double z, double dof);
/// Returns the part of it that does not depend on z; and the CRPS, given this part.
double student_crps_spread(double dof);
double student_unit_crps(double z, double dof, double spread);

}  // namespace slimbayes
