// Factored weights: their moments, their starts, and the priors of factors.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

/// The random weights of one linear layer without a bias, and their parameters in float64.
struct OneLayer {
  Network network;
  RandomWeights random;
  Weights weights;

  OneLayer(int64_t in, int64_t out, const SitePlan& plan, const Binding::Lookup& trained = {})
      : network({{{in}}, {Linear{out, /*bias=*/false}}}, "net"),
        random(network.layout(), plan_for_all(network.layout(), plan)) {
    for (const ParameterSpec& one : random.parameters(Stream(2), trained)) weights[one.name] = one.start;
  }
  WeightPosterior bound() const { return random.bound(as_type(weights, at::kDouble)); }
  at::Tensor draw(uint64_t s) const { return dense(bound().draw(Stream(7).split(s)).binding.maps[0]); }
};

// Lemma 3.5 of Toure and Stephens: elements of W = A B^T in one row have the covariance sum_k var_A mu_B
// mu_B', in one column sum_k mu_A mu_A' var_B, and elsewhere 0.
TEST(LowRank, ElementsOfARowAndOfAColumnAreCorrelated) {
  constexpr int64_t kDraws = 100000;
  OneLayer q(3, 2, {.structure = "low_rank", .start_scale = 0.4, .rank = 2});
  q.weights["net.0.weight.a"] = at::tensor({0.9, -0.5, 0.3, 1.1}, at::kDouble).view({2, 2});
  q.weights["net.0.weight.b"] = at::tensor({0.7, 0.2, -0.8, 0.6, 0.1, -1.0}, at::kDouble).view({3, 2});
  const at::Tensor a = q.weights["net.0.weight.a"], b = q.weights["net.0.weight.b"];
  const WeightPosterior bound = q.bound();
  at::Tensor all = at::empty({kDraws, 6}, at::kDouble);
  for (int64_t s = 0; s < kDraws; ++s)
    all[s] = dense(bound.draw(Stream(7).split(static_cast<uint64_t>(s))).binding.maps[0]).flatten();
  const at::Tensor found = at::cov(all.t());
  const double var = 0.16;
  for (int64_t p = 0; p < 6; ++p) {
    for (int64_t q2 = 0; q2 < 6; ++q2) {
      const int64_t i = p / 3, j = p % 3, i2 = q2 / 3, j2 = q2 % 3;
      double expected = 0;
      if (i == i2) expected += var * b[j].dot(b[j2]).item<double>();
      if (j == j2) expected += var * a[i].dot(a[i2]).item<double>();
      if (i == i2 && j == j2) expected += 2 * var * var;  // r products of two variances
      EXPECT_NEAR(found[p][q2].item<double>(), expected, 0.02) << p << " " << q2;
    }
  }
  EXPECT_LT((all.mean(0).view({2, 3}) - a.mm(b.t())).abs().max().item<double>(), 0.02);
}

TEST(LowRank, OfFullRankWithoutSpreadIsTheTrainedMatrix) {
  const at::Tensor w = Stream(4).normal({5, 5});  // square and not symmetric
  const Binding::Lookup trained = [&](const std::string&) { return w; };
  const OneLayer full(5, 5, {.structure = "low_rank", .start_scale = 1e-12, .start = "svd", .rank = 5},
                      trained);
  EXPECT_TRUE(at::allclose(full.draw(1), w, 1e-9, 1e-9));
  const OneLayer three(5, 5, {.structure = "low_rank", .start_scale = 1e-12, .start = "svd", .rank = 3},
                       trained);
  const at::Tensor values = at::linalg_svdvals(w);  // Eckart and Young: no rank-3 matrix is nearer
  EXPECT_NEAR((three.draw(1) - w).norm().item<double>(), values.narrow(0, 3, 2).norm().item<double>(), 1e-9);
  const OneLayer beyond(5, 5, {.structure = "low_rank", .start_scale = 1e-12, .start = "svd", .rank = 7},
                        trained);  // more columns than the matrix has
  EXPECT_TRUE(at::allclose(beyond.draw(1), w, 1e-9, 1e-9));
  const at::Tensor wide = Stream(5).normal({3, 6});
  const OneLayer flat(6, 3, {.structure = "low_rank", .start_scale = 1e-12, .start = "svd", .rank = 3},
                      [&](const std::string&) { return wide; });
  EXPECT_TRUE(at::allclose(flat.draw(1), wide, 1e-9, 1e-9));
}

TEST(LowRank, DampingAndTheRatioScaleTheStart) {
  const OneLayer plain(300, 200, {.structure = "low_rank", .start_ratio = 0.1, .rank = 40}),
      damped(300, 200, {.structure = "low_rank", .start_ratio = 0.1, .damping = 0.5, .rank = 40});
  for (const char* factor : {"net.0.weight.a", "net.0.weight.b"}) {
    EXPECT_TRUE(at::allclose(0.5 * plain.weights.at(factor), damped.weights.at(factor)));
    for (const OneLayer* one : {&plain, &damped}) {
      const at::Tensor scale = at::softplus(one->weights.at(std::string(factor) + ".spread"));
      const double size = one->weights.at(factor).square().mean().sqrt().item<double>();
      EXPECT_TRUE(at::allclose(scale, at::full_like(scale, 0.1 * size), 1e-6, 1e-9));
    }
  }
}

TEST(RankOne, StartsAtTheNetworkAndScalesItsRowsAndColumns) {
  const OneLayer q(3, 2, {.structure = "rank_one", .start_scale = 1e-12});
  EXPECT_TRUE(at::allclose(q.draw(1), q.weights.at("net.0.weight"), 1e-9, 1e-9));
  EXPECT_EQ(q.weights.size(), 5u);  // V, and locations and spreads of s and r
  OneLayer scaled = q;
  scaled.weights["net.0.weight.s"] = at::tensor({0.5, -0.5}, at::kDouble);
  scaled.weights["net.0.weight.r"] = at::tensor({1.0, 0.0, -1.0}, at::kDouble);
  const at::Tensor expected = at::tensor({1.5, 0.5}, at::kDouble).unsqueeze(1) *
                              q.weights.at("net.0.weight") * at::tensor({2.0, 1.0, 0.0}, at::kDouble);
  EXPECT_TRUE(at::allclose(scaled.draw(1), expected, 1e-9, 1e-9));
}

TEST(Prior, OfFactorsMatchesTheVarianceOfTheMatrix) {
  constexpr int64_t kDraws = 400000, kRank = 6;
  for (const Prior& dense_prior : {Prior(NormalPrior{0.3}), Prior(MixturePrior{0.5, 1, 0.1})}) {
    const Prior factor = matched_to_dense(dense_prior, kRank);
    const auto var_of = [](const Prior& prior) {
      if (const auto* normal = std::get_if<NormalPrior>(&prior)) return normal->sd * normal->sd;
      const auto& two = std::get<MixturePrior>(prior);
      return two.share * two.wide * two.wide + (1 - two.share) * two.narrow * two.narrow;
    };
    const auto drawn = [&](uint64_t s) {
      const Stream stream = Stream(3).split(s);
      const at::Tensor e = stream.split("e").normal({kDraws, kRank});
      if (const auto* normal = std::get_if<NormalPrior>(&factor)) return normal->sd * e;
      const auto& two = std::get<MixturePrior>(factor);
      const at::Tensor wide = stream.split("u").uniform({kDraws, kRank}) < two.share;
      return e * at::where(wide, at::full_like(e, two.wide), at::full_like(e, two.narrow));
    };
    const double var = (drawn(1) * drawn(2)).sum(1).var().item<double>();
    EXPECT_NEAR(var / var_of(dense_prior), 1, 0.02);
  }
}

TEST(Prior, RowsOfUnseenTokensGoToIt) {
  const Network network({{{3}, true}, {Embedding{10, 4}, MeanOverSteps{}}}, "net");
  for (const char* structure : {"mean_field", "low_rank", "rank_one"}) {
    for (const char* law : {"gaussian", "laplace"}) {
      const SitePlan plan{
          .structure = structure, .law = law, .prior = NormalPrior{0.7}, .rank = structure[0] == 'l' ? 2 : 0};
      const RandomWeights random(network.layout(), plan_for_all(network.layout(), plan));
      const Parameters parameters(random.parameters(Stream(2)), at::kDouble);
      const WeightPosterior q = random.bound([&](const std::string& name) { return parameters[name]; });
      ASSERT_TRUE(q.has_tokens());
      const at::Tensor unseen = at::tensor({3, 8}, at::kLong);
      const WeightDraw before = q.draw(Stream(1), {unseen});
      const double away = q.kl(before, {at::ones({2}, at::kDouble)}).item<double>();
      q.rows_to_prior(unseen);
      const WeightDraw draw = q.draw(Stream(1), {unseen});
      const double near = q.kl(draw, {at::ones({2}, at::kDouble)}).item<double>() -
                          q.kl(draw, {at::zeros({2}, at::kDouble)}).item<double>();
      // A Gaussian law reaches the prior; a Laplace law keeps its own shape.
      if (std::string(law) == "gaussian") {
        EXPECT_NEAR(near, 0, 1e-12) << structure;
      }
      EXPECT_LT(near, away) << structure << " " << law;
      // No other scale is nearer to the prior.
      const Law& own = find_law(law);
      const double best = nearest_scale(own, NormalPrior{0.7});
      const auto kl = [&](double scale) {
        return own.kl_to_normal(at::zeros({}, at::kDouble), at::full({}, scale, at::kDouble), 0.7)
            .item<double>();
      };
      EXPECT_LT(kl(best), kl(1.01 * best));
      EXPECT_LT(kl(best), kl(0.99 * best));
    }
  }
}

}  // namespace
}  // namespace slimbayes
