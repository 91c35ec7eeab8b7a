#pragma once

namespace slimbayes {

// The standard normal and the standard Student-t distribution between two bounds, of single numbers: what is
// known of a target that is only known to lie in an interval. answers/censored has the same of tensors.
//
// Bounds a <= b may be infinite, and are below 1e150 in size if they are not. `width` is b - a: the caller
// computes it from the bounds of the target, since the difference of a and b loses digits where both are
// large.

/// The moments of z ~ N(0, 1), given a <= z <= b.
struct TruncatedNormal {
  double log_prob;  // log(Phi(b) - Phi(a))
  double mean;      // E[z | a <= z <= b] = (phi(a) - phi(b)) / (Phi(b) - Phi(a))
  double excess;    // E[z^2 | a <= z <= b] - 1 = (a phi(a) - b phi(b)) / (Phi(b) - Phi(a))
};

/// Returns the moments with a relative error below 1e-12, also far in the tails and for narrow intervals,
/// given these arguments (mean and excess are sums of two terms, and the error is relative to the larger).
/// With z = (y - m) / s they are the derivatives of the log-likelihood of y in an interval:
///   d log P / dm = mean / s,   d log P / ds = excess / s.
/// For width -> 0 both tend to those of the log density, a / s and (a^2 - 1) / s. a = b, or a bound at its
/// own infinity (a = +inf, b = -inf): log_prob is -inf, and mean and excess are those of the point, infinite
/// at infinity. NaN gives NaN.
TruncatedNormal truncated_normal(double a, double b, double width);

/// Returns log(F(b) - F(a)) for the cdf F of the standard Student-t distribution, with the error above for
/// dof up to 300; beyond, rounding in the constant of the density adds about 1e-15 dof. An infinite `dof` is
/// the standard normal distribution. Throws std::invalid_argument unless dof > 0.
double log_student_between(double a, double b, double width, double dof);

}  // namespace slimbayes
