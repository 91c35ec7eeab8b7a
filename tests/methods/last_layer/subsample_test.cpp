// The posterior of k of N rows, its statistics scaled by N / k (R section 3.3), beside that of all rows; the
// prior factor, A of Rich-BLL, is fixed.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {
namespace {

/// The covariance S(x, x') of the answers at `test` rows, from k of the rows drawn without replacement.
/// [t, t]
at::Tensor covariance_of_sample(const at::Tensor& phi, int64_t k, const at::Tensor& factor,
                                const at::Tensor& test, const Stream& stream, double noise) {
  const int64_t n = phi.size(0);
  const at::Tensor rows = phi.index_select(0, stream.permutation(n).narrow(0, 0, k));
  LinearStatistics s = added(linear_statistics(phi.size(1)), {rows, at::zeros({k}, at::kDouble), {}});
  if (k < n) s = scaled(s, static_cast<double>(n) / static_cast<double>(k), n);
  const LinearPosterior p = linear_posterior(s, {noise, factor});
  const at::Tensor half =
      at::linalg_solve_triangular(p.precision.factor, test.mm(factor).t(), /*upper=*/false);
  // epistemic_var is the diagonal of what is bounded here.
  EXPECT_TRUE(at::allclose(half.square().sum(0), epistemic_var(p, test), 1e-12, 1e-14));
  return half.t().mm(half);
}

double norm_of(const at::Tensor& symmetric) {
  return at::linalg_eigvalsh(symmetric).abs().max().item<double>();
}

TEST(Subsample, TheErrorFallsAsTheRootOfOneByKLessOneByN) {
  const ThreadScope one(1);  // thousands of small products, which two threads would wait for
  constexpr int64_t n = 4000, r = 8, draws = 60;
  constexpr double noise = 0.1;
  const Stream s(11);
  const at::Tensor phi =
      at::tanh(s.split("x").normal({n, 3}).mm(s.split("w").normal({3, r})) + s.split("b").normal({r}));
  const at::Tensor test = at::tanh(2 * s.split("test").normal({20, r}));
  const at::Tensor factor = at::eye(r, at::kDouble) + 0.3 * s.split("t").normal({r, r}).tril();
  const at::Tensor all = covariance_of_sample(phi, n, factor, test, s, noise);
  std::vector<double> x, y;
  for (const int64_t k : {15 * r, 30 * r, 60 * r, 120 * r, 240 * r}) {
    double sum = 0;
    for (int64_t draw = 0; draw < draws; ++draw) {
      const Stream own = s.split("draw").split(static_cast<uint64_t>(k * draws + draw));
      sum += norm_of(covariance_of_sample(phi, k, factor, test, own, noise) - all);
    }
    x.push_back(std::log(std::sqrt(1.0 / static_cast<double>(k) - 1.0 / static_cast<double>(n))));
    y.push_back(std::log(sum / draws));
  }
  // The slope of log error on log sqrt(1 / k - 1 / N) is 1.
  const at::Tensor u = at::tensor(x, at::kDouble), v = at::tensor(y, at::kDouble);
  const at::Tensor centred = u - u.mean();
  const double slope = (centred.dot(v) / centred.dot(centred)).item<double>();
  EXPECT_NEAR(slope, 1, 0.15);
  const at::Tensor residual = v - v.mean() - slope * centred;
  EXPECT_LT(residual.abs().max().item<double>(), 0.15);  // within 15 % of the law at every k
}

TEST(Subsample, TheErrorIsBelowTheBounds) {  // R theorems 3.5 and A.4
  // phi = (cos a, sin a) for a uniform angle a: |phi| = K = 1 and E[phi phi^T] = I / 2.
  const ThreadScope one(1);
  constexpr int64_t n = 20000, r = 2;
  constexpr double bound_k = 1, least = 0.5, delta = 0.05;
  // As noisy as this the bounds lie within a factor of 200 of the errors; with less noise they are far above.
  constexpr double noise = n;
  const double logarithm = std::log(4 * r / delta), sd = std::sqrt(noise), rows = n;
  const Stream s(12);
  const auto circle = [&](const char* name, int64_t count) {
    const at::Tensor angle = 6.283185307179586 * s.split(name).uniform({count});
    return at::stack({angle.cos(), angle.sin()}, 1);
  };
  const at::Tensor phi = circle("train", n), factor = at::eye(r, at::kDouble);
  for (const int64_t tests : {1, 5}) {
    const at::Tensor test = circle("test", tests), all = covariance_of_sample(phi, n, factor, test, s, noise);
    for (const int64_t k : {3500, 7000, 14000}) {
      const double share = std::sqrt(8 * logarithm / (3.0 * static_cast<double>(k)));
      ASSERT_GE(static_cast<double>(k), 8.0 / 3 * logarithm * std::pow(8 * bound_k * bound_k / least, 2));
      const auto count = static_cast<double>(tests);
      const double first = count * 2 * std::pow(bound_k, 4) / least * share;
      const double second =
          count * 4 * std::pow(bound_k, 4) / std::pow(sd / rows + least / (2 * sd), 2) / rows * share;
      double sum = 0;
      for (uint64_t draw = 0; draw < 20; ++draw) {
        const double error =
            norm_of(covariance_of_sample(phi, k, factor, test, s.split("draw").split(draw), noise) - all);
        EXPECT_LT(error, first);
        EXPECT_LT(error, second);
        sum += error;
      }
      EXPECT_GT(sum / 20, second / 1000);  // a covariance of another size would be far from the bound
    }
  }
}

}  // namespace
}  // namespace slimbayes
