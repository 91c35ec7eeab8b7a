// constant against its conjugate posteriors, written out or sampled.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/method/registry.h"

namespace slimbayes {
namespace {

std::unique_ptr<Fitted> constant(const Dataset& rows) {
  return registry_row("constant").make(nlohmann::json::object())->fit({rows, {}}, {});
}

TEST(Constant, OfNumbersIsTheGaussianOfTheSample) {
  const at::Tensor y = at::tensor({1.0, 2.0, 6.0, 7.0});
  const Dataset rows = regression_data(Stream(1).normal({4, 2}), y);
  const auto p = std::get<Regression>(constant(rows)->predict(rows));
  EXPECT_TRUE(at::allclose(p.mean, at::full({4}, 4.0, at::kDouble)));
  EXPECT_TRUE(at::allclose(p.aleatoric_var, at::full({4}, 26.0 / 3 * 1.25, at::kDouble)));
  EXPECT_EQ(p.epistemic_var.abs().max().item<double>(), 0);
}

TEST(Constant, OfClassesIsTheDirichletPosterior) {
  const at::Tensor y = at::tensor({0, 0, 0, 1, 1, 2}, at::kLong);
  const Dataset rows = class_data(Stream(1).normal({6, 2}), y, 4);
  const auto p = std::get<Classes>(constant(rows)->predict(rows));
  const at::Tensor alpha = at::tensor({3.5, 2.5, 1.5, 0.5}, at::kDouble), expected = alpha / 8;
  EXPECT_TRUE(at::allclose(p.probabilities[5], expected));
  EXPECT_NEAR(p.predictive_entropy[0].item<double>(), -(expected * expected.log()).sum().item<double>(),
              1e-12);
  // The expected entropy, by an integral over each coordinate: E[-p log p] under Beta(a, 8 - a).
  double integral = 0;
  constexpr int kCells = 200000;
  for (int64_t c = 0; c < 4; ++c) {
    const double a = alpha[c].item<double>(), b = 8 - a;
    const double log_norm = std::lgamma(8.0) - std::lgamma(a) - std::lgamma(b);
    for (int i = 0; i < kCells; ++i) {
      const double t = (i + 0.5) / kCells;
      integral -=
          t * std::log(t) * std::exp(log_norm + (a - 1) * std::log(t) + (b - 1) * std::log1p(-t)) / kCells;
    }
  }
  EXPECT_NEAR(p.expected_entropy[0].item<double>(), integral, 1e-6);
  EXPECT_GT(mutual_information(p).min().item<double>(), 0);
}

TEST(Constant, OfCountsIsTheGammaPosterior) {
  Dataset rows = regression_data(Stream(1).normal({4, 2}), at::tensor({3.0, 0.0, 2.0, 5.0}));
  rows.schema.task.kind = TaskKind::counts;
  rows.schema.task.likelihood = LikelihoodKind::poisson;
  const auto p = std::get<Counts>(constant(rows)->predict(rows));
  // Gamma(10.5, 4): the mean and the sd of the rate, by the log-normal with the moments of its logarithm.
  EXPECT_NEAR(mean(p.rate)[0].item<double>(), 10.5 / 4, 0.01 * 10.5 / 4);
  EXPECT_NEAR(std::sqrt(var(p.rate)[0].item<double>()), std::sqrt(10.5) / 4, 0.08 * std::sqrt(10.5) / 4);
}

}  // namespace
}  // namespace slimbayes
