#include "slimbayes/answers/count_likelihood.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/quadrature.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(Poisson, ExpectedLogProbIsTheAverageOverTheBelief) {
  Latent f{row({0.4, 2}), row({0.6, 0.1})};
  at::Tensor y = row({3, 0});
  Quadrature rule = gauss_hermite(60);
  at::Tensor at_nodes = f.mean.unsqueeze(1) + f.epistemic_var.sqrt().unsqueeze(1) * rule.nodes;
  at::Tensor log_p = y.unsqueeze(1) * at_nodes - at_nodes.exp() - at::lgamma(y + 1).unsqueeze(1);
  EXPECT_TRUE(
      at::allclose(PoissonLikelihood{}.expected_log_prob(f, y), at::mv(log_p, rule.weights), 1e-12, 0));
  // Jensen's inequality: E[log p] < log E[p].
  EXPECT_TRUE((PoissonLikelihood{}.expected_log_prob(f, y) < PoissonLikelihood{}.log_predictive(f, y))
                  .all()
                  .item<bool>());
}

TEST(Poisson, GradientsMatchCentralDifferences) {
  at::Tensor y = row({3});
  auto value = [&](double m, double v) {
    return PoissonLikelihood{}.expected_log_prob({row({m}), row({v})}, y).item<double>();
  };
  at::Tensor m = row({0.4}).requires_grad_(true), v = row({0.6}).requires_grad_(true);
  PoissonLikelihood{}.expected_log_prob({m, v}, y).sum().backward();
  EXPECT_NEAR(m.grad().item<double>(), (value(0.4 + 1e-6, 0.6) - value(0.4 - 1e-6, 0.6)) / 2e-6, 1e-8);
  EXPECT_NEAR(v.grad().item<double>(), (value(0.4, 0.6 + 1e-6) - value(0.4, 0.6 - 1e-6)) / 2e-6, 1e-8);
}

TEST(Poisson, MomentsAreThoseOfItsProbabilities) {
  Latent f{row({1.2}), row({0.3})};
  Counts p = std::get<Counts>(PoissonLikelihood{}.predictive(f));
  double first = 0, second = 0, total = 0;
  for (int y = 0; y < 400; ++y) {
    double mass =
        std::exp(PoissonLikelihood{}.log_predictive(f, row({static_cast<double>(y)})).item<double>());
    total += mass, first += mass * y, second += mass * y * y;
  }
  EXPECT_NEAR(total, 1, 1e-9);
  EXPECT_NEAR(mean(p.rate).item<double>(), first, 1e-7);
  EXPECT_NEAR(mean(p.rate).item<double>(), std::exp(1.35), 1e-12);
  EXPECT_NEAR(total_var(p).item<double>(), second - first * first, 1e-5);
}

TEST(Poisson, AnswersInFloat64AndNamesWrongShapes) {
  Latent f{at::zeros({3}, at::kFloat).requires_grad_(true), at::zeros({3}, at::kFloat)};
  EXPECT_EQ(PoissonLikelihood{}.expected_log_prob(f, at::ones({3}, at::kFloat)).scalar_type(), at::kFloat);
  Counts p = std::get<Counts>(PoissonLikelihood{}.predictive(f));
  EXPECT_EQ(p.rate.log_mean.scalar_type(), at::kDouble);
  EXPECT_FALSE(p.rate.log_mean.requires_grad());
  EXPECT_THROW(PoissonLikelihood{}.expected_log_prob(f, at::ones({2}, at::kFloat)), std::invalid_argument);
}

TEST(Cox, TheIntensityIsTheMeanOfALogNormal) {
  Latent f{row({0.4}), row({0.6})};
  Quadrature rule = gauss_hermite(60);
  double average = at::dot(rule.weights, at::exp(0.4 + std::sqrt(0.6) * rule.nodes)).item<double>();
  EXPECT_NEAR(expected_intensity(f).item<double>(), average, 1e-12);
}

}  // namespace
}  // namespace slimbayes
