#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/random.h"
#include "tests/objectives/plain_forms.h"

// Tests the papers' theorems about the covariance Sigma that maximises the expected log evidence of y ~ N(mu,
// D). With S = mu mu^T + D, this Sigma minimises J(Sigma) = log|Sigma| + tr(Sigma^-1 S), up to constants
// (N-19). J is computed from mml: from its mean over n targets, the columns of sqrt(n) chol(S), whose second
// moment is S.

namespace slimbayes {
namespace {

constexpr int64_t kRows = 12;

at::Tensor eye() { return at::eye(kRows, at::kDouble); }

double objective(const at::Tensor& features, double noise_var, const at::Tensor& s) {
  at::Tensor targets = std::sqrt(static_cast<double>(kRows)) * at::linalg_cholesky(s);
  at::Tensor zero = at::zeros({}, at::kDouble), noise = at::scalar_tensor(noise_var, at::kDouble);
  double sum = 0;
  for (int64_t k = 0; k < kRows; ++k) sum += mml(features, targets.select(1, k), zero, noise).item<double>();
  return -2 * sum / kRows - kRows * std::log(2 * std::numbers::pi);
}

/// Splits Sigma into features and noise (half its least eigenvalue) and returns the objective.
double objective(const at::Tensor& sigma, const at::Tensor& s) {
  double noise = 0.5 * at::linalg_eigvalsh(sigma).min().item<double>();
  return objective(at::linalg_cholesky(sigma - noise * eye()), noise, s);
}

TEST(Evidence, ItsMeanOverTheTargetsIsTheObjectiveOfTheTheorems) {
  at::Tensor a = Stream(3).normal({kRows, kRows}), b = Stream(4).normal({kRows, kRows});
  at::Tensor sigma = at::mm(a, a.t()) + eye(), s = at::mm(b, b.t()) + eye();
  double expected = (at::logdet(sigma) + (at::linalg_inv(sigma) * s).sum()).item<double>();
  EXPECT_NEAR(objective(sigma, s), expected, 1e-9 * std::abs(expected));
}

struct Truth {
  at::Tensor mean, noise_var, second_moment;  // mu [n], diag D [n], S [n, n]

  explicit Truth(bool homogeneous) {
    Stream stream(11);
    mean = 2 * stream.split("mean").normal(at::IntArrayRef{kRows});
    noise_var = homogeneous ? at::full({kRows}, 0.3, at::kDouble)
                            : 0.1 + stream.split("noise").uniform(at::IntArrayRef{kRows});
    second_moment = at::outer(mean, mean) + at::diag(noise_var);
  }
};

at::Tensor symmetric(const at::Tensor& a) { return 0.5 * (a + a.t()); }

TEST(TheoremTwo, TheSecondMomentIsTheBestCovariance) {
  Truth truth(false);
  const at::Tensor& s = truth.second_moment;
  double best = objective(s, s);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    constexpr double kStep = 1e-5;
    at::Tensor along = symmetric(Stream(seed).normal({kRows, kRows}));
    double slope = (objective(s + kStep * along, s) - objective(s - kStep * along, s)) / (2 * kStep);
    EXPECT_NEAR(slope, 0, 1e-5);  // the slope is zero in every direction
    at::Tensor other = s + 0.02 * symmetric(Stream(seed).normal({kRows, kRows}));
    if (at::linalg_eigvalsh(other).min().item<double>() <= 0) continue;
    EXPECT_GT(objective(other, s), best);
  }
}

/// The rank-r solution of N theorem 3.
struct LowRank {
  at::Tensor values, vectors;  // eigenvalues of S, descending [n]; eigenvectors as columns [n, n]
  at::Tensor kernel;           // K* [n, n]
  double noise_var;            // sigma2*, the mean of the other eigenvalues

  LowRank(const at::Tensor& s, int64_t r) {
    auto [ascending, columns] = at::linalg_eigh(s);
    values = ascending.flip(0);
    vectors = columns.flip(1);
    noise_var = values.narrow(0, r, kRows - r).mean().item<double>();
    at::Tensor u = vectors.narrow(1, 0, r);
    kernel = at::mm(u * (values.narrow(0, 0, r) - noise_var), u.t());
  }
};

TEST(TheoremThree, TheTopEigenvectorsAndTheMeanOfTheTailAreTheBestLowRankKernel) {
  Truth truth(false);
  const at::Tensor& s = truth.second_moment;
  for (int64_t r : {1, 3, 6}) {
    LowRank best(s, r);
    at::Tensor phi = best.vectors.narrow(1, 0, r) * (best.values.narrow(0, 0, r) - best.noise_var).sqrt();
    double value = objective(phi, best.noise_var, s);
    // The gradient is zero in Phi (K = Phi Phi^T) and in the noise.
    at::Tensor inverse = at::linalg_inv(best.kernel + best.noise_var * eye());
    at::Tensor slope = inverse - at::mm(at::mm(inverse, s), inverse);
    EXPECT_LT(at::mm(slope, phi).abs().max().item<double>(), 1e-9);
    EXPECT_NEAR(slope.diagonal().sum().item<double>(), 0, 1e-8);
    for (uint64_t seed = 0; seed < 40; ++seed) {
      Stream stream(seed);
      double size = seed % 2 == 0 ? 0.05 : 1.0;  // other features near the solution, and far from it
      at::Tensor other = phi + size * stream.split("phi").normal({kRows, r});
      double noise = best.noise_var * std::exp(0.3 * stream.split("noise").normal(0));
      EXPECT_GT(objective(other, noise, s), value);
    }
    // Another choice of r eigenvectors is worse.
    at::Tensor swapped = best.vectors.narrow(1, 1, r);
    double rest = (best.values.sum() - best.values.narrow(0, 1, r).sum()).item<double>() / (kRows - r);
    at::Tensor scale = at::clamp_min(best.values.narrow(0, 1, r) - rest, 0);
    EXPECT_GT(objective(swapped * scale.sqrt(), rest, s), value);
  }
}

TEST(TheoremThree, TheTailInterlacesWithTheNoise) {
  Truth truth(false);
  at::Tensor values = LowRank(truth.second_moment, 1).values;
  at::Tensor d = std::get<0>(truth.noise_var.sort(0, /*descending=*/true));
  for (int64_t i = 0; i + 1 < kRows; ++i) {
    double tail = values[i + 1].item<double>();
    EXPECT_LE(tail, d[i].item<double>() + 1e-12);
    EXPECT_GE(tail, d[i + 1].item<double>() - 1e-12);
  }
}

// N corollary 1 and E theorem 1: with one noise variance for all rows, every rank gives the same rank-1
// kernel.
TEST(CorollaryOne, OneNoiseVarianceLeavesARankOneKernel) {
  Truth truth(true);
  at::Tensor expected = at::outer(truth.mean, truth.mean);
  for (int64_t r : {1, 4}) {
    LowRank best(truth.second_moment, r);
    EXPECT_NEAR(best.noise_var, 0.3, 1e-10);
    EXPECT_TRUE(at::allclose(best.kernel, expected, 1e-9, 1e-9));
  }
}

// E theorem 1, second case: f f^T is also the kernel whose posterior mean has the least expected squared
// error, E ||f - K Sigma^-1 y||^2 = sigma2^2 ||Sigma^-1 f||^2 + sigma2 ||Sigma^-1 K||_F^2 (E appendix A.4).
TEST(TheoremOneOfE, TheRankOneKernelHasTheLeastSquaredError) {
  Truth truth(true);
  const double noise = 0.3;
  auto error = [&](const at::Tensor& kernel) {
    at::Tensor inverse = at::linalg_inv(kernel + noise * eye());
    double bias = at::mv(inverse, truth.mean).square().sum().item<double>();
    return noise * noise * bias + noise * at::mm(inverse, kernel).square().sum().item<double>();
  };
  at::Tensor best = at::outer(truth.mean, truth.mean);
  double least = error(best);
  // The mean over draws of y confirms the closed form above.
  at::Tensor y = truth.mean + std::sqrt(noise) * Stream(2).normal({20000, kRows});
  at::Tensor smoother = at::mm(best, at::linalg_inv(best + noise * eye()));
  double drawn = (at::mm(y, smoother.t()) - truth.mean).square().sum(1).mean().item<double>();
  EXPECT_NEAR(drawn, least, 0.05 * least);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    double size = seed % 2 == 0 ? 0.1 : 1.0;
    at::Tensor column = truth.mean.unsqueeze(1) + size * Stream(seed).split("column").normal({kRows, 1});
    at::Tensor more = size * Stream(seed).split("more").normal({kRows, 2});
    EXPECT_GT(error(at::mm(column, column.t())), least);
    EXPECT_GT(error(best + at::mm(more, more.t())), least);
  }
}

}  // namespace
}  // namespace slimbayes
