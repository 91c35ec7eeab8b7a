#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"
#include "slimbayes/objectives/exact_bound.h"
#include "tests/objectives/plain_forms.h"

// Tests mml, the collapsed bound and the two passes that train on them.

namespace slimbayes {
namespace {

struct Evidence {
  at::Tensor phi, y, correction, offset, log_noise;

  explicit Evidence(int64_t n = 12, int64_t r = 4) {
    Stream s(3);
    phi = s.split("phi").normal({n, r});
    y = s.split("y").normal(at::IntArrayRef{n}) + phi.select(1, 0);
    correction = s.split("c").uniform(at::IntArrayRef{n});
    offset = at::full({}, 0.2, at::kDouble);
    log_noise = at::full({}, -1.3, at::kDouble);
  }
  at::Tensor noise() const { return at::exp(log_noise); }
  at::Tensor evidence() const { return mml(phi, y, offset, noise()); }
  at::Tensor bound() const { return collapsed_bound(phi, correction, y, offset, noise()); }
};

/// Computes log N(y; 0, covariance) by a dense factorisation.
double dense_log_density(const at::Tensor& y, const at::Tensor& covariance) {
  at::Tensor l = at::linalg_cholesky(covariance);
  at::Tensor half = at::linalg_solve_triangular(l, y.unsqueeze(1), false);
  return -0.5 * (static_cast<double>(y.size(0)) * std::log(2 * std::numbers::pi) +
                 half.square().sum().item<double>()) -
         l.diagonal().log().sum().item<double>();
}

at::Tensor eye(int64_t n) { return at::eye(n, at::kDouble); }

TEST(Mml, EqualsTheDenseEvidenceAndTheTrunks) {
  for (int64_t n : {12, 3}) {  // more rows than features, and fewer
    Evidence c(n);
    double noise = c.noise().item<double>();
    double dense = dense_log_density(c.y - 0.2, at::mm(c.phi, c.phi.t()) + noise * eye(n));
    EXPECT_NEAR(c.evidence().item<double>(), dense, 1e-9 * std::abs(dense));
    LinearStatistics s = added(linear_statistics(4, 0.2), {c.phi, c.y, {}});
    EXPECT_NEAR(log_evidence(linear_posterior(s, {noise, {}})), dense, 1e-9 * std::abs(dense));
  }
}

TEST(Mml, LosesNoDigitsWhereTheNoiseIsTiny) {
  // With orthogonal features the covariance is (1 + noise) I. The form e^T e / noise - ... would lose nine
  // digits.
  at::Tensor phi = std::get<0>(at::linalg_qr(Stream(2).normal({8, 8})));
  at::Tensor y = Stream(3).normal(at::IntArrayRef{8});
  double noise = 1e-9, squares = y.square().sum().item<double>();
  double expected = -0.5 * (8 * std::log(2 * std::numbers::pi * (1 + noise)) + squares / (1 + noise));
  at::Tensor zero = at::zeros({}, at::kDouble);
  EXPECT_NEAR(mml(phi, y, zero, at::full({}, noise, at::kDouble)).item<double>(), expected, 1e-11);
}

TEST(Mml, GradientsEqualCentralDifferences) {
  Evidence c;
  for (at::Tensor Evidence::*field :
       {&Evidence::phi, &Evidence::correction, &Evidence::y, &Evidence::offset, &Evidence::log_noise}) {
    at::Tensor& x = c.*field;
    x.set_requires_grad(true);
    c.bound().backward();
    at::Tensor grad = x.grad().clone().reshape({-1});
    x = x.detach().clone();
    at::Tensor flat = x.view({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      constexpr double kStep = 1e-6;
      double at_x = flat[i].item<double>();
      flat[i] = at_x + kStep;
      double high = c.bound().item<double>();
      flat[i] = at_x - kStep;
      double low = c.bound().item<double>();
      flat[i] = at_x;
      EXPECT_NEAR(grad[i].item<double>(), (high - low) / (2 * kStep),
                  1e-6 * (1 + std::abs(grad[i].item<double>())));
    }
  }
}

TEST(CollapsedBound, LiesBelowTheDenseEvidenceOfItsKernel) {
  Stream s(5);
  const int64_t n = 30, r = 6;
  at::Tensor x = 2 * s.split("x").uniform({n, 1}) - 1, y = at::sin(4 * x).squeeze(1);
  auto kernel = [](const at::Tensor& a, const at::Tensor& b) { return at::exp(-4 * (a - b.t()).square()); };
  at::Tensor full = kernel(x, x), noise = at::full({}, 0.05, at::kDouble), zero = at::zeros({}, at::kDouble);
  double dense = dense_log_density(y, full + 0.05 * eye(n));
  double before = -1e300;
  for (int64_t m : {r, n}) {  // with all rows as inducing points the bound is tight
    at::Tensor z = x.narrow(0, 0, m);
    at::Tensor factor = at::linalg_cholesky(kernel(z, z) + 1e-10 * eye(m));
    at::Tensor phi = at::linalg_solve_triangular(factor, kernel(z, x), false).t();
    at::Tensor correction = 1 - phi.square().sum(1);
    double bound = collapsed_bound(phi, correction, y, zero, noise).item<double>();
    EXPECT_LT(bound, dense + 1e-5);
    EXPECT_GT(bound, before);
    before = bound;
    // SVGP at its optimal q, N(m, sigma2 Lambda^-1), equals this bound / n (Titsias 2009; Hensman et al.
    // 2013).
    at::Tensor h = at::mm(phi.t(), phi) / 0.05 + eye(m);
    at::Tensor covariance = at::linalg_inv(h), factor_q = at::linalg_cholesky(covariance);
    at::Tensor mean = at::mv(covariance, at::mv(phi.t(), y)) / 0.05;
    VariationalPosterior q{mean.unsqueeze(0), factor_q.diagonal().log().unsqueeze(0), factor_q.unsqueeze(0)};
    const auto svgp = [&] {
      return gaussian_bound(phi, correction, y, q, zero.reshape({1}), noise, n, {DataTerm::expected, 0, 1})
          .total.item<double>();
    };
    const double svgp_loss = svgp();
    EXPECT_NEAR(-svgp_loss * n, bound, 1e-7 * std::abs(bound));
    q.mean = mean.unsqueeze(0) + 0.01;
    EXPECT_GT(svgp(), svgp_loss);
  }
  EXPECT_NEAR(before, dense, 1e-5);
}

TEST(CollapsedBound, WithoutACorrectionIsTheEvidence) {
  Evidence c;
  c.correction.zero_();
  EXPECT_EQ(c.bound().item<double>(), c.evidence().item<double>());
}

/// Compares both passes over batches of `chunk` rows with automatic differentiation over all rows at once.
void compare_passes(double alpha, bool with_correction, int64_t chunk) {
  Evidence c(23, 5);
  at::Tensor noise_var = c.noise().detach();
  ExactSums sums = exact_sums(5);
  auto rows = [&](int64_t low) {
    int64_t size = std::min<int64_t>(chunk, 23 - low);
    return LinearRows{c.phi.detach().narrow(0, low, size), c.y.narrow(0, low, size), {}};
  };
  auto corrections = [&](int64_t low) {
    return with_correction ? c.correction.detach().narrow(0, low, std::min<int64_t>(chunk, 23 - low))
                           : at::Tensor();
  };
  for (int64_t low = 0; low < 23; low += chunk) sums = added(sums, rows(low), corrections(low), low);
  ExactBound bound = exact_bound(sums, noise_var.item<double>(), alpha);
  std::vector<at::Tensor> grads;
  at::Tensor grad_correction;
  for (int64_t low = 0; low < 23; low += chunk) {
    ExactRowGradient g = row_gradient(bound, rows(low), low);
    grads.push_back(g.features);
    grad_correction = g.correction;
  }

  c.phi.set_requires_grad(true);
  c.correction.set_requires_grad(true);
  noise_var.set_requires_grad(true);
  at::Tensor constant = at::full({}, bound.posterior.constant, at::kDouble).set_requires_grad(true);
  at::Tensor prior_var = c.phi.square().sum(1);
  at::Tensor slack = alpha * (prior_var.max() - prior_var);
  if (with_correction) slack = slack + c.correction;
  at::Tensor plain = collapsed_bound(c.phi, slack, c.y, constant, noise_var);
  plain.backward();
  EXPECT_NEAR(bound.evidence - bound.penalty, plain.item<double>(), 1e-10 * std::abs(plain.item<double>()));
  EXPECT_NEAR(constant.grad().item<double>(), 0, 1e-9);  // the constant maximises the bound
  EXPECT_TRUE(at::allclose(at::cat(grads), c.phi.grad(), 1e-10, 1e-10));
  EXPECT_NEAR(bound.grad_noise_var, noise_var.grad().item<double>(),
              1e-9 * (1 + std::abs(bound.grad_noise_var)));
  if (!with_correction) return;
  EXPECT_TRUE(at::allclose(grad_correction.expand({23}), c.correction.grad(), 1e-12, 1e-12));
}

TEST(ExactBound, TwoPassesOverBatchesEqualAutomaticDifferentiation) {
  for (int64_t chunk : {23, 7, 1}) {
    compare_passes(0, false, chunk);
    compare_passes(0, true, chunk);
    compare_passes(1, false, chunk);
    compare_passes(0.3, true, chunk);
  }
}

}  // namespace
}  // namespace slimbayes
