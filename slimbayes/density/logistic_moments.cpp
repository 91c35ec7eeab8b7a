// Moments of the logistic function of a Gaussian or a Student-t variable.
//
// Rule      The trapezoidal rule with the step h in u = (t - mean) / sd. For an integrand that is analytic
//           within |Im u| < a its error is of the order exp(-2 pi a / h) (Trefethen and Weideman 2014,
// theorem           5.1), times the growth exp(a^2 / 2) of the Gaussian there. The poles of the logistic
// function next to           the real axis are +-i pi, so a = pi / sd, and h = 0.7 / max(1, sd) leaves 1e-10.
// For the Gaussian           factor alone the error is exp(-2 pi^2 / h^2). Beyond |u| = 6.5 it has the mass
// 8e-11. A Gauss-Hermite           rule converges as exp(-c sqrt(n)) here, because of the poles.
// Parts     A sum over the latent function, of sums over the noise. Variances are sums of squared deviations
//           from the rule's own means, so that they are not negative and have their digits where they are
// small. Near 1    s is replaced by 1 - s, the same function of -t: 1 - s would lose its digits.
// Student   u = sinh(x) turns the algebraic tails into exponential ones. The poles of the density lie at
//           |Im x| = pi / 2, but towards pi / 4 a density of many degrees of freedom grows as a Gaussian's
// does;           the pole of the logistic function lies at about pi / sqrt(scale^2 + mean^2).
// Cost      441 logistic functions for a row with standard deviations up to 1; in proportion to both beyond.
#include "slimbayes/density/logistic_moments.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace slimbayes {

namespace {

constexpr double kFarthestSd = 6.5;
constexpr double kMostNodes = 2048;  // on each side of the mean

/// The nodes of the rule for N(0, sd^2), and their weights, whose sum is 1.
struct NormalRule {
  std::vector<double> at, weight;

  explicit NormalRule(double sd) {
    if (!(sd > 0)) {
      at = {0};
      weight = {1};
      return;
    }
    const double n = std::min(kMostNodes, std::ceil(kFarthestSd * std::max(1.0, sd) / 0.7));
    const double step = kFarthestSd / n;
    double sum = 0;
    for (double i = -n; i <= n; ++i) {
      const double u = i * step;
      at.push_back(sd * u);
      weight.push_back(std::exp(-0.5 * u * u));
      sum += weight.back();
    }
    for (double& w : weight) w /= sum;
  }
};

double logistic(double t) {
  const double e = std::exp(-std::abs(t));
  return t < 0 ? e / (1 + e) : 1 / (1 + e);
}

RowMoments of_gaussian(const RowMoments& t) {
  const NormalRule latent(std::sqrt(t.epistemic_var)), noise(std::sqrt(t.aleatoric_var));
  RowMoments out;
  std::vector<double> means, values(noise.at.size());
  for (size_t i = 0; i < latent.at.size(); ++i) {
    double mean = 0, var = 0;
    for (size_t j = 0; j < values.size(); ++j) {
      values[j] = logistic(t.mean + latent.at[i] + noise.at[j]);
      mean += noise.weight[j] * values[j];
    }
    for (size_t j = 0; j < values.size(); ++j)
      var += noise.weight[j] * (values[j] - mean) * (values[j] - mean);
    means.push_back(mean);
    out.mean += latent.weight[i] * mean;
    out.aleatoric_var += latent.weight[i] * var;
  }
  for (size_t i = 0; i < means.size(); ++i)
    out.epistemic_var += latent.weight[i] * (means[i] - out.mean) * (means[i] - out.mean);
  return out;
}

/// The mean of s, and its whole variance as the aleatoric one. `scale` is that of the Student-t distribution.
RowMoments of_student(double centre, double scale, double dof) {
  constexpr double kStep = 0.2, kTail = 27;  // exp(-27) of the weight is left out on each side
  const double step = std::min(kStep, 0.8 / std::sqrt(scale * scale + centre * centre));
  const double n = std::min(kMostNodes, std::ceil((kTail / dof + 3) / step));
  std::vector<double> values, weights;
  double sum = 0;
  RowMoments out;
  for (double i = -n; i <= n; ++i) {
    const double x = i * step, u = std::sinh(x);
    values.push_back(logistic(centre + scale * u));
    weights.push_back(std::exp(-0.5 * (dof + 1) * std::log1p(u * u / dof)) * std::cosh(x));
    sum += weights.back();
    out.mean += weights.back() * values.back();
  }
  out.mean /= sum;
  for (size_t i = 0; i < values.size(); ++i)
    out.aleatoric_var += weights[i] / sum * (values[i] - out.mean) * (values[i] - out.mean);
  return out;
}

}  // namespace

RowMoments logistic_moments(const RowMoments& t, double dof) {
  if (t.mean > 0) {
    RowMoments mirrored = logistic_moments({-t.mean, t.aleatoric_var, t.epistemic_var}, dof);
    mirrored.mean = 1 - mirrored.mean;
    return mirrored;
  }
  const RowMoments gaussian = of_gaussian(t);
  if (std::isinf(dof)) return gaussian;
  RowMoments out = of_student(t.mean, std::sqrt(t.var() * ((dof - 2) / dof)), dof);
  const double share = gaussian.var() > 0 ? gaussian.epistemic_var / gaussian.var() : 0;
  out.epistemic_var = share * out.aleatoric_var;
  out.aleatoric_var -= out.epistemic_var;
  return out;
}

}  // namespace slimbayes
