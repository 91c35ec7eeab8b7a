#include "slimbayes/answers/likelihood.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

double log_normal(double y, double mean, double var) {
  return -0.5 * (std::log(2 * std::numbers::pi * var) + (y - mean) * (y - mean) / var);
}

TEST(Likelihood, LogPredictiveIsANormalWithTheTotalVariance) {
  GaussianLikelihood scalar{at::scalar_tensor(0.3, at::kDouble)}, each{row({0.3, 0.7})};
  Latent f{row({1, -1}), row({0.2, 0})};
  at::Tensor y = row({0.5, 2});
  EXPECT_NEAR(scalar.log_predictive(f, y)[0].item<double>(), log_normal(0.5, 1, 0.5), 1e-14);
  EXPECT_NEAR(scalar.log_predictive(f, y)[1].item<double>(), log_normal(2, -1, 0.3), 1e-14);
  EXPECT_NEAR(each.log_predictive(f, y)[1].item<double>(), log_normal(2, -1, 0.7), 1e-14);
}

TEST(Likelihood, ExpectedLogProbIsTheAverageOverTheBelief) {
  double mean = 0.4, var = 0.6, noise = 0.25, y = 1.1, sum = 0;
  constexpr int n = 20'000;  // midpoint rule over +-12 sd
  double width = 24 * std::sqrt(var) / n;
  for (int i = 0; i < n; ++i) {
    double f = mean - 12 * std::sqrt(var) + (i + 0.5) * width;
    sum += width * std::exp(log_normal(f, mean, var)) * log_normal(y, f, noise);
  }
  GaussianLikelihood l{at::scalar_tensor(noise, at::kDouble)};
  EXPECT_NEAR(l.expected_log_prob({row({mean}), row({var})}, row({y})).item<double>(), sum, 1e-10);
  // Without epistemic variance E[log p] equals log E[p].
  Latent sure{row({mean}), row({0})};
  EXPECT_NEAR(l.expected_log_prob(sure, row({y})).item<double>(),
              l.log_predictive(sure, row({y})).item<double>(), 1e-14);
}

TEST(Likelihood, GradientsMatchCentralDifferences) {
  for (bool expected : {true, false}) {
    at::Tensor mean = row({0.3}), var = row({0.5}), noise = at::scalar_tensor(0.2, at::kDouble), y = row({1});
    auto value = [&](const at::Tensor& m, const at::Tensor& v, const at::Tensor& s) {
      GaussianLikelihood l{s};
      return (expected ? l.expected_log_prob({m, v}, y) : l.log_predictive({m, v}, y)).sum();
    };
    at::Tensor inputs[] = {mean, var, noise};
    for (at::Tensor& x : inputs) x.requires_grad_(true);
    value(mean, var, noise).backward();
    for (int k = 0; k < 3; ++k) {
      auto shifted = [&](double h) {
        at::Tensor x[] = {mean.detach(), var.detach(), noise.detach()};
        x[k] = x[k] + h;
        return value(x[0], x[1], x[2]).item<double>();
      };
      double difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
      EXPECT_NEAR(inputs[k].grad().sum().item<double>(), difference, 1e-7);
    }
  }
}

TEST(Likelihood, TrainingKeepsTheDtypeAndPredictionIsFloat64) {
  GaussianLikelihood l{at::scalar_tensor(0.3, at::kFloat)};
  Latent f{at::ones({3}, at::kFloat).requires_grad_(true), at::zeros({3}, at::kFloat)};
  at::Tensor y = at::zeros({3}, at::kFloat);
  EXPECT_EQ(l.log_predictive(f, y).scalar_type(), at::kFloat);
  EXPECT_EQ(l.expected_log_prob(f, y).scalar_type(), at::kFloat);
  Regression p = std::get<Regression>(l.predictive(f));
  for (const at::Tensor& x : {p.mean, p.aleatoric_var, p.epistemic_var}) {
    EXPECT_EQ(x.scalar_type(), at::kDouble);
    EXPECT_EQ(x.sizes(), at::IntArrayRef({3}));
    EXPECT_FALSE(x.requires_grad());
  }
}

TEST(Likelihood, WrongShapesAreNamed) {
  GaussianLikelihood l{at::scalar_tensor(0.3, at::kDouble)};
  Latent f{row({1, 2}), row({0, 0})};
  EXPECT_THROW(l.log_predictive(f, row({1})), std::invalid_argument);
  EXPECT_THROW(l.log_predictive({row({1, 2}), row({0})}, row({1, 2})), std::invalid_argument);
  EXPECT_THROW(l.log_predictive(f, at::zeros({2, 1}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW((GaussianLikelihood{row({1, 1, 1})}).predictive(f), std::invalid_argument);
  EXPECT_THROW(GaussianLikelihood{}.predictive(f), std::invalid_argument);
}

// The density by numerical integration: it sums to 1, and its variance is that of f and of the noise.
TEST(Likelihood, AStudentPredictiveHasTheTotalVariance) {
  const StudentLikelihood l{at::scalar_tensor(0.3, at::kDouble), 5};
  const at::Tensor t = at::linspace(-6, 6, 200001, at::kDouble), y = 1 + at::sinh(t);  // dense in the middle
  const Latent f{at::full_like(t, 1), at::full_like(t, 0.2)};
  const at::Tensor mass = l.log_predictive(f, y).exp() * at::cosh(t) * (12.0 / 200000);
  EXPECT_NEAR(mass.sum().item<double>(), 1, 1e-6);
  EXPECT_NEAR((mass * (y - 1).square()).sum().item<double>(), 0.5, 1e-3);
}

TEST(Likelihood, TheAnswerOfAStudentHasItsDensity) {
  const Latent f{row({1, -1}), row({0.2, 0}), 1};
  const at::Tensor y = row({0.5, 9});
  const StudentLikelihood heavy{at::scalar_tensor(0.3, at::kDouble), 3};
  const auto p = std::get<Regression>(heavy.predictive(f));
  EXPECT_TRUE(at::allclose(regression_row_nll(p, y), -heavy.log_predictive(f, y), 1e-12, 1e-12));
  EXPECT_EQ(p.zeroed, 1);
  EXPECT_TRUE(at::equal(p.epistemic_var, f.epistemic_var));
  const StudentLikelihood none{heavy.noise_var, INFINITY};
  EXPECT_TRUE(std::get<Regression>(none.predictive(f)).density.empty());
  EXPECT_TRUE(at::equal(none.log_predictive(f, y), GaussianLikelihood{heavy.noise_var}.log_predictive(f, y)));
  const Latent columns{f.mean.unsqueeze(1), f.epistemic_var.unsqueeze(1)};
  EXPECT_THROW(expected_log_prob(heavy, columns, y), std::invalid_argument);
  EXPECT_THROW((StudentLikelihood{heavy.noise_var, 2}.log_predictive(f, y)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
