#include "slimbayes/objectives/dppgp.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

struct Case {
  at::Tensor phi, y, mean, log_diagonal, lower, offset, log_noise;

  explicit Case(int64_t b = 7, int64_t r = 4) {
    Stream s(3);
    phi = s.split("phi").normal({b, r});
    y = s.split("y").normal(at::IntArrayRef{b});
    mean = s.split("m").normal(at::IntArrayRef{r});
    log_diagonal = 0.3 * s.split("d").normal(at::IntArrayRef{r});
    lower = s.split("l").normal({r, r});
    offset = at::full({}, 0.2, at::kDouble);
    log_noise = at::full({}, -1.0, at::kDouble);
  }
  DppgpLoss loss(double alpha = 0.3, double beta = 0.7) const {
    return dppgp(phi, y, {mean, log_diagonal, lower}, offset, at::exp(log_noise), 20, alpha, beta);
  }
};

TEST(Dppgp, EqualsItsFormulaWrittenOut) {
  Case c;
  at::Tensor factor = c.lower.clone().tril(-1);
  for (int64_t i = 0; i < 4; ++i) factor[i][i] = std::exp(c.log_diagonal[i].item<double>());
  double noise = std::exp(-1.0), data = 0, most = 0, sum = 0;
  for (int64_t i = 0; i < 7; ++i) {
    at::Tensor phi = c.phi[i];
    double mean = at::dot(phi, c.mean).item<double>() + 0.2;
    double variance = at::mv(factor.t(), phi).square().sum().item<double>() + noise;
    double error = c.y[i].item<double>() - mean;
    data += 0.5 * (std::log(2 * std::numbers::pi * variance) + error * error / variance) / 7;
    double norm = phi.square().sum().item<double>();
    most = std::max(most, norm);
    sum += norm / 7;
  }
  double kl =
      0.5 * (c.mean.square().sum() + factor.square().sum() - 2 * c.log_diagonal.sum() - 4).item<double>();
  DppgpLoss loss = c.loss();
  EXPECT_NEAR(loss.data.item<double>(), data, 1e-12);
  EXPECT_NEAR(loss.trace.item<double>(), (most - sum) / (2 * noise), 1e-12);
  EXPECT_NEAR(loss.kl.item<double>(), kl, 1e-12);
  EXPECT_NEAR(loss.total.item<double>(), data + 0.3 * (most - sum) / (2 * noise) + 0.7 / 20 * kl, 1e-12);
}

TEST(Dppgp, KlIsZeroAtThePrior) {
  VariationalPosterior prior{at::zeros({5}, at::kDouble), at::zeros({5}, at::kDouble),
                             at::zeros({5, 5}, at::kDouble)};
  EXPECT_EQ(prior.kl().item<double>(), 0);
}

TEST(Dppgp, KlIgnoresWhatLiesAboveTheDiagonal) {
  Case c;
  VariationalPosterior q{c.mean, c.log_diagonal, c.lower}, same{c.mean, c.log_diagonal, c.lower.tril(-1)};
  EXPECT_EQ(q.kl().item<double>(), same.kl().item<double>());
}

TEST(Dppgp, GradientsEqualCentralDifferences) {
  Case c;
  for (at::Tensor Case::*field :
       {&Case::phi, &Case::mean, &Case::log_diagonal, &Case::lower, &Case::offset, &Case::log_noise}) {
    at::Tensor& x = c.*field;
    x.set_requires_grad(true);
    c.loss().total.backward();
    at::Tensor grad = x.grad().clone().reshape({-1});
    x = x.detach().clone();
    at::Tensor flat = x.view({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      constexpr double kStep = 1e-6;
      double at_x = flat[i].item<double>();
      flat[i] = at_x + kStep;
      double high = c.loss().total.item<double>();
      flat[i] = at_x - kStep;
      double low = c.loss().total.item<double>();
      flat[i] = at_x;
      EXPECT_NEAR(grad[i].item<double>(), (high - low) / (2 * kStep),
                  1e-7 * (1 + std::abs(grad[i].item<double>())));
    }
  }
}

TEST(DppgpGradient, EqualsAutomaticDifferentiation) {
  Case c(9, 5);
  for (at::Tensor Case::*field :
       {&Case::phi, &Case::mean, &Case::log_diagonal, &Case::lower, &Case::offset, &Case::log_noise}) {
    (c.*field).set_requires_grad(true);
  }
  at::Tensor noise_var = at::exp(c.log_noise).detach().set_requires_grad(true);
  VariationalPosterior q{c.mean, c.log_diagonal, c.lower};
  DppgpLoss loss = dppgp(c.phi, c.y, q, c.offset, noise_var, 20, 0.3, 0.7);
  loss.total.backward();
  DppgpGradient g = dppgp_gradient(c.phi, c.y, q, c.offset, noise_var, 20, 0.3, 0.7);
  auto same = [](const at::Tensor& a, const at::Tensor& b) { return at::allclose(a, b, 1e-12, 1e-13); };
  EXPECT_TRUE(same(g.loss.total, loss.total) && same(g.loss.data, loss.data));
  EXPECT_TRUE(same(g.loss.trace, loss.trace) && same(g.loss.kl, loss.kl));
  EXPECT_TRUE(same(g.grad_features, c.phi.grad()));
  EXPECT_TRUE(same(g.grad_mean, c.mean.grad()));
  EXPECT_TRUE(same(g.grad_log_diagonal, c.log_diagonal.grad()));
  EXPECT_TRUE(same(g.grad_lower, c.lower.grad()));
  EXPECT_TRUE(same(g.grad_offset, c.offset.grad()));
  EXPECT_TRUE(same(g.grad_noise_var, noise_var.grad()));
}

TEST(DppgpGradient, FocusWeighsRowsByTheirVariance) {
  Case c(9, 5);
  VariationalPosterior q{c.mean, c.log_diagonal, c.lower};
  at::Tensor noise = at::exp(c.log_noise);
  c.phi.set_requires_grad(true);
  Latent f = q.latent(c.phi, c.offset);
  at::Tensor weight = (f.epistemic_var + noise).detach().pow(0.5);
  (-GaussianLikelihood{noise}.log_predictive(f, c.y) * weight / weight.mean()).mean().backward();
  DppgpGradient g = dppgp_gradient(c.phi.detach(), c.y, q, c.offset, noise, 20, 0, 0, 0.5);
  EXPECT_TRUE(at::allclose(g.grad_features, c.phi.grad(), 1e-12, 1e-13));
}

TEST(Dppgp, ZeroWeightsLeaveTheDataTerm) {
  DppgpLoss loss = Case().loss(0, 0);
  EXPECT_EQ(loss.total.item<double>(), loss.data.item<double>());
}

}  // namespace
}  // namespace slimbayes
