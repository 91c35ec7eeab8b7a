#include "slimbayes/bayes/mean_field.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

struct MeanField {
  std::vector<ParameterSpec> network = network_parameters(mlp(3, 4, 1, "tanh"), "net", "net", Stream(1));
  Weights weights;

  explicit MeanField(double sd) {
    for (const ParameterSpec& one : mean_field_parameters(network, sd, "spread"))
      weights[one.name] = one.start;
  }
  Network::Lookup lookup() const { return as_type(weights, at::kDouble); }
};

TEST(MeanField, DrawsHaveItsMeanAndSd) {
  const MeanField q(0.3);
  constexpr int kDraws = 4000;
  at::Tensor sum = at::zeros({4, 3}, at::kDouble), squares = sum.clone();
  for (uint64_t s = 0; s < kDraws; ++s) {
    const at::Tensor w = mean_field_draw(q.network, q.lookup(), Stream(5).split(s))("net.0.weight");
    sum += w;
    squares += (w - q.weights.at("net.0.weight")).square();
  }
  EXPECT_LT((sum / kDraws - q.weights.at("net.0.weight")).abs().max().item<double>(),
            5 * 0.3 / std::sqrt(kDraws));
  EXPECT_LT((squares / kDraws / 0.09 - 1).abs().max().item<double>(), 5 * std::sqrt(2.0 / kDraws));
}

TEST(MeanField, KlIsThatOfTheGaussians) {
  const MeanField q(0.3);
  double expected = 0;
  for (const ParameterSpec& one : q.network) {
    const at::Tensor mean = q.weights.at(one.name);
    for (int64_t i = 0; i < mean.numel(); ++i) {
      const double m = mean.flatten()[i].item<double>(), prior = 0.7;
      expected += std::log(prior / 0.3) + (0.09 + m * m) / (2 * prior * prior) - 0.5;
    }
  }
  EXPECT_NEAR(mean_field_kl(q.network, q.lookup(), 0.7).item<double>(), expected, 1e-9 * expected);
}

TEST(MeanField, TheKlOfThePriorIsZero) {
  MeanField q(0.7);
  for (const ParameterSpec& one : q.network) q.weights[one.name].zero_();
  EXPECT_NEAR(mean_field_kl(q.network, q.lookup(), 0.7).item<double>(), 0, 1e-12);
}

}  // namespace
}  // namespace slimbayes
