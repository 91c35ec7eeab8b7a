// The bound of truncation against what truncation does: random networks, several matrices at once, a case in
// which the bound is attained.
#include "slimbayes/theory/truncation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/theory/network_complexity.h"
#include "slimbayes/theory/rank_advice.h"

namespace slimbayes {
namespace {

ModelNetwork network_with(const NetworkSpec& spec, const Head& head) {
  ModelNetwork network{"", {}, {}, true};
  network.file.spec = spec;
  network.file.head = head;
  for (const ParameterSpec& one : network_parameters(spec, "network", "network", Stream(21)))
    network.file.weights[one.name] = 2 * one.start;
  return network;
}

at::Tensor truncated(const at::Tensor& w, int64_t rank) {
  const auto [u, s, vt] = at::linalg_svd(w, false);
  return (u.narrow(1, 0, rank) * s.narrow(0, 0, rank)).mm(vt.narrow(0, 0, rank));
}

/// Returns the outputs with some matrices replaced by their best approximations of this rank.
at::Tensor outputs(const ModelNetwork& network, const at::Tensor& x, const std::vector<size_t>& which,
                   int64_t rank) {
  const at::NoGradGuard no_grad;
  const Network net(network.file.spec, "network");
  Binding weights = mean_weights(network);
  for (const size_t i : which) weights.maps[i] = DenseMap{truncated(dense(weights.maps[i]), rank)};
  return net(x, weights);
}

const NetworkSpec kNet{{{4}}, {Linear{6}, Activation{"silu"}, Linear{5}, Activation{"gelu"}, Linear{3}}};

TEST(Truncation, NoClassLossChangesByMoreThanItsBound) {
  const ModelNetwork network = network_with(kNet, {LikelihoodKind::softmax, 3, 0});
  const at::Tensor x = 2 * Stream(1).normal({60, 4});
  const at::Tensor y = at::remainder(at::arange(60, at::kLong), 3);
  const Dataset rows = class_data(x, y, 3);
  const Truncation found = truncation_of(network, rows, {1, 2});
  ASSERT_EQ(found.losses.size(), 1);
  const auto loss = [&](const at::Tensor& z) {
    return at::logsumexp(z, {1}) - z.gather(1, y.unsqueeze(1)).squeeze(1);
  };
  const at::Tensor before = outputs(network, x, {}, 1);
  for (const int64_t rank : {1, 2}) {
    double sum = 0;
    for (size_t i = 0; i < 3; ++i) {
      const RankBound& bound = found.matrices[i].ranks[static_cast<size_t>(rank - 1)];
      ASSERT_EQ(bound.rank, rank);
      const at::Tensor after = outputs(network, x, {i}, rank);
      EXPECT_LE((after - before).norm(2, 1).max().item<double>(), bound.output_change * (1 + 1e-9));
      EXPECT_LE(bound.output_change, bound.tail_change * (1 + 1e-12));
      EXPECT_LE((loss(after) - loss(before)).abs().max().item<double>(), bound.loss_changes[0] * (1 + 1e-9));
      sum += bound.output_change;
    }
    const at::Tensor all = outputs(network, x, {0, 1, 2}, rank);
    EXPECT_LE((all - before).norm(2, 1).max().item<double>(), sum * (1 + 1e-9));
  }
}

TEST(Truncation, NoNumberChangesByMoreThanItsBound) {
  NetworkSpec spec = kNet;
  spec.layers.back() = Linear{1};
  const ModelNetwork network = network_with(spec, {LikelihoodKind::gaussian, 1, 0.1});
  const at::Tensor x = Stream(2).normal({50, 4}), y = Stream(3).normal({50});
  Dataset rows = regression_data(x, y);
  rows.schema.task.y_scale = 10;
  const Truncation found = truncation_of(network, rows, {1});
  const at::Tensor before = outputs(network, x, {}, 1).squeeze(1),
                   after = outputs(network, x, {1}, 1).squeeze(1);
  const RankBound& bound = found.matrices[1].ranks[0];
  EXPECT_LE(10 * ((after - y).abs() - (before - y).abs()).abs().max().item<double>(), bound.loss_changes[0]);
  EXPECT_LE(50 * ((after - y).square() - (before - y).square()).abs().max().item<double>(),
            bound.loss_changes[1]);
}

TEST(Truncation, RefusesRanksThatChangeNoMatrix) {
  const ModelNetwork network =
      network_with({{{4}}, {Linear{3}, Linear{1}}}, {LikelihoodKind::gaussian, 1, 0.1});
  const Dataset rows = regression_data(Stream(2).normal({5, 4}), at::zeros({5}, at::kDouble));
  EXPECT_NO_THROW(truncation_of(network, rows, {2, 99}));
  EXPECT_THROW(truncation_of(network, rows, {3, 99}), std::invalid_argument);
}

TEST(Truncation, IsAttainedWhereTheInputIsTheLostDirection) {
  // W = diag(3, 2): rank 1 loses the second axis, on which the longest input lies. The output layer is 1 x 2.
  ModelNetwork network = network_with({{{2}}, {Linear{2}, Linear{1}}}, {LikelihoodKind::gaussian, 1, 0.1});
  network.file.weights["network.0.weight"] = at::diag(at::tensor({3.0, 2.0}, at::kDouble));
  network.file.weights["network.1.weight"] = at::tensor({0.0, 0.5}, at::kDouble).view({1, 2});
  const at::Tensor x = at::tensor({1.0, 0.0, 0.0, 4.0}, at::kDouble).view({2, 2});
  const Truncation found = truncation_of(network, regression_data(x, at::zeros({2}, at::kDouble)), {1, 2});
  const RankBound& bound = found.matrices[0].ranks[0];
  EXPECT_NEAR(found.matrices[0].input_norm, 4, 1e-12);
  EXPECT_NEAR(bound.output_change, 0.5 * 4 * 2, 1e-12);
  EXPECT_NEAR((outputs(network, x, {0}, 1) - outputs(network, x, {}, 1)).abs().max().item<double>(),
              bound.output_change, 1e-12);
  EXPECT_EQ(found.matrices[0].ranks[1].output_change, 0);  // the full rank changes nothing
}

TEST(Truncation, OfFeaturesHasNoLoss) {
  ModelNetwork network = network_with(kNet, {LikelihoodKind::softmax, 3, 0});
  network.answers = false;
  const Dataset rows = class_data(Stream(1).normal({6, 4}), at::arange(6, at::kLong).remainder(3), 3);
  EXPECT_TRUE(truncation_of(network, rows, {1}).losses.empty());
}

TEST(RankAdvice, OfKnownMatrices) {
  ModelNetwork network = network_with({{{2}}, {Linear{2}, Linear{1}}}, {LikelihoodKind::gaussian, 1, 0.1});
  network.file.weights["network.0.weight"] = at::diag(at::tensor({3.0, 1.0}, at::kDouble));  // energy 9 of 10
  const RankAdvice advice = rank_advice({network}, 0.89);
  EXPECT_EQ(advice.layer_ranks, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(rank_advice({network}, 0.91).layer_ranks, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(advice.rank, 0);  // factors of 2 x 2 and 1 x 2 save nothing
  EXPECT_EQ(advice.matrices[0].saved, 0);
  EXPECT_EQ(advice.matrices[1].saved, -1);
  EXPECT_NEAR(advice.matrices[0].kept[0].second, 0.9, 1e-12);
}

TEST(NetworkComplexity, OfOneMatrixIsTheExactCaseAndItsBound) {
  ModelNetwork network = network_with({{{2}}, {Linear{1}}}, {LikelihoodKind::gaussian, 1, 0.1});
  network.file.weights["network.0.weight"] = at::tensor({3.0, 4.0}, at::kDouble).view({1, 2});
  const at::Tensor x = at::tensor({2.0, 0.0, 0.0, 0.0}, at::kDouble).view({2, 2});
  const NetworkComplexity found = complexity_of(network, regression_data(x, at::zeros({2}, at::kDouble)), 3);
  EXPECT_NEAR(found.value, 2.0 / 2 * 5, 1e-12);
  EXPECT_EQ(found.draws, 200);
  EXPECT_NEAR(found.first.mean, std::sqrt(2 / M_PI) * found.value, 5 * found.first.se);  // one direction
}

TEST(ComplexityDraws, KeepTheWorkBelowTheLimit) {
  EXPECT_EQ(complexity_draws(12, 3), 200);
  EXPECT_EQ(complexity_draws(1200, 784), 8);
  EXPECT_EQ(complexity_draws(784, 1200), 8);
  EXPECT_EQ(complexity_draws(400, 500), 62);  // 62 * 400 * 500 * 400 = 4.96e9
  EXPECT_EQ(complexity_draws(1 << 20, 1 << 20), 8);
}

TEST(NetworkComplexity, OfOtherLayersIsRefusedInWords) {
  const ModelNetwork network =
      network_with({{{2}}, {LayerNorm{}, Linear{1}}}, {LikelihoodKind::gaussian, 1, 0.1});
  const Dataset rows = regression_data(at::ones({1, 2}, at::kDouble), at::zeros({1}, at::kDouble));
  EXPECT_EQ(complexity_of(network, rows, 1).unknown, "network.0 (layer_norm)");
}

}  // namespace
}  // namespace slimbayes
