// Random weights in every layer that has a matrix: a draw is a deterministic network with the drawn matrices.
#include "slimbayes/bayes/random_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

/// Networks with Linear, Conv2d, Embedding, Lstm and Attention.
struct Example {
  const char* name;
  NetworkSpec spec;
  at::Tensor x;
};

std::vector<Example> examples() {
  const at::Tensor words = at::tensor({1, 5, 5, 2, 9, 1}, at::kLong).view({2, 3});
  return {
      {"linear", mlp(3, 4, 2, "tanh"), Stream(1).normal({5, 3})},
      {"conv2d", {{{2, 6, 6}}, {Conv2d{4}, Activation{}, MeanOverImage{}}}, Stream(1).normal({5, 2, 6, 6})},
      {"embedding", {{{3}, true}, {Embedding{10, 4}, MeanOverSteps{}, Linear{2}}}, words},
      {"lstm", {{{4, 3}}, {Lstm{5}, LastStep{}}}, Stream(1).normal({5, 4, 3})},
      {"one_bias", {{{4, 3}}, {Lstm{5, "one"}, Lstm{2, "one"}, LastStep{}}}, Stream(1).normal({5, 4, 3})},
      {"attention", {{{4, 6}}, {Attention{2}, MeanOverSteps{}}}, Stream(1).normal({5, 4, 6})}};
}

struct Posterior {
  Network network;
  RandomWeights random;
  Weights weights;
  WeightPosterior bound;

  Posterior(const NetworkSpec& spec, const SitePlan& each)
      : network(spec, "net"),
        random(network.layout(), plan_for_all(network.layout(), each)),
        weights(started(random)),
        bound(random.bound(as_type(weights, at::kDouble))) {}

  static Weights started(const RandomWeights& random) {
    Weights all;
    for (const ParameterSpec& one : random.parameters(Stream(2))) all[one.name] = one.start;
    return all;
  }
};

/// Returns the deterministic network with the tensors of a draw, whose matrices are multiplied out.
at::Tensor output_of_dense(const Example& example, const WeightDraw& draw) {
  const Network network(example.spec, "net");
  const NetworkLayout& layout = network.layout();
  Weights dense_weights;
  for (size_t i = 0; i < layout.tensors.size(); ++i) {
    const TensorShape& tensor = layout.tensors[i];
    at::Tensor value = draw.binding.tensors[i];
    std::vector<at::Tensor> parts;
    for (size_t j = 0; j < layout.sites.size(); ++j)
      if (layout.sites[j].tensor == tensor.name) parts.push_back(dense(draw.binding.maps[j]));
    if (!parts.empty()) value = at::cat(parts).view(tensor.sizes);
    dense_weights[tensor.name] = value;
  }
  return network(example.x, bound(layout, as_type(dense_weights, at::kDouble)));
}

TEST(RandomWeights, ADrawIsTheNetworkOfItsDenseMatrices) {
  for (const Example& example : examples()) {
    for (const SitePlan& plan : {SitePlan{}, SitePlan{.structure = "low_rank", .start_scale = 0.1, .rank = 2},
                                 SitePlan{.structure = "rank_one", .start_scale = 0.1},
                                 SitePlan{.structure = "rank_one_at_zero", .start_scale = 0.1},
                                 SitePlan{.law = "laplace", .prior = MixturePrior{}}}) {
      const Posterior q(example.spec, plan);
      const WeightDraw draw = q.bound.draw(Stream(3));
      const at::Tensor found = q.network(example.x, draw.binding);
      EXPECT_TRUE(at::allclose(found, output_of_dense(example, draw), 1e-12, 1e-12))
          << example.name << " " << plan.structure;
      EXPECT_TRUE(at::equal(found, q.network(example.x, q.bound.draw(Stream(3)).binding)));
      EXPECT_FALSE(at::allclose(found, q.network(example.x, q.bound.draw(Stream(4)).binding)));
      EXPECT_TRUE(std::isfinite(q.bound.kl(draw).item<double>()));
    }
  }
}

// The outputs reach every trained parameter, and the KL every spread.
TEST(RandomWeights, GradientsReachEveryParameter) {
  for (const Example& example : examples()) {
    const Network network(example.spec, "net");
    for (const char* structure : {"mean_field", "low_rank", "rank_one", "rank_one_at_zero"}) {
      const RandomWeights random(
          network.layout(),
          plan_for_all(network.layout(), {.structure = structure, .rank = structure[0] == 'l' ? 2 : 0}));
      const Parameters parameters(random.parameters(Stream(2)), at::kDouble);
      const WeightPosterior q = random.bound([&](const std::string& name) { return parameters[name]; });
      const WeightDraw draw = q.draw(Stream(3));
      network(example.x, draw.binding).square().sum().backward({}, /*retain_graph=*/true);
      for (const std::string& name : parameters.names())
        EXPECT_GT(parameters[name].grad().abs().sum().item<double>(), 0) << example.name << " " << name;
      parameters.grads("spread").zero_();
      q.kl(draw).backward();
      EXPECT_TRUE((parameters.grads("spread") != 0).all().item<bool>()) << example.name;
    }
  }
}

TEST(RandomWeights, MeanFieldDrawsHaveTheirMeanAndSd) {
  constexpr int kDraws = 4000;
  const Posterior q(mlp(3, 4, 1, "tanh"), {.start_scale = 0.3});
  at::Tensor sum = at::zeros({4, 3}, at::kDouble), squares = sum.clone();
  for (uint64_t s = 0; s < kDraws; ++s) {
    const at::Tensor w = dense(q.bound.draw(Stream(5).split(s)).binding.maps[0]);
    sum += w;
    squares += (w - q.weights.at("net.0.weight")).square();
  }
  EXPECT_LT((sum / kDraws - q.weights.at("net.0.weight")).abs().max().item<double>(),
            5 * 0.3 / std::sqrt(kDraws));
  EXPECT_LT((squares / kDraws / 0.09 - 1).abs().max().item<double>(), 5 * std::sqrt(2.0 / kDraws));
}

// Var W = r v_A v_B: the start has the variance of the network's own initial values.
TEST(RandomWeights, LowRankStartsWithTheVarianceOfTheNetwork) {
  const Posterior q({{{300}}, {Linear{200}}}, {.structure = "low_rank", .start_scale = 1e-6, .rank = 64});
  const double var = dense(q.bound.draw(Stream(1)).binding.maps[0]).square().mean().item<double>();
  EXPECT_NEAR(var * 3 * 300, 1, 0.1);  // U(-1/sqrt(300), 1/sqrt(300))
}

// Both forms of rank_one start at the same draws. Their priors have another mean, so that every scale s,
// which is 1 in the one and 0 in the other, adds 1 / (2 sd^2) to the KL.
TEST(RandomWeights, TheScalesOfRankOneStartAlikeUnderBothPriors) {
  const double sd = 0.7;
  const auto posterior = [&](const char* structure) {
    return Posterior(mlp(3, 4, 1, "tanh"),
                     {.structure = structure, .prior = NormalPrior{sd}, .start_scale = 0.3});
  };
  const Posterior one = posterior("rank_one"), zero = posterior("rank_one_at_zero");
  const WeightDraw a = one.bound.draw(Stream(1)), b = zero.bound.draw(Stream(1));
  EXPECT_TRUE(at::allclose(dense(a.binding.maps[0]), dense(b.binding.maps[0]), 1e-12, 1e-12));
  int64_t scales = 0;
  for (const auto& [name, value] : zero.weights)
    if (name.ends_with(".s") || name.ends_with(".r")) scales += value.numel();
  EXPECT_GT(scales, 0);
  EXPECT_NEAR(zero.bound.kl(b).item<double>() - one.bound.kl(a).item<double>(),
              static_cast<double>(scales) / (2 * sd * sd), 1e-9);
}

TEST(RandomWeights, TheKlSumsOverAllNumbers) {
  const Posterior q(mlp(3, 4, 1, "tanh"), {.prior = NormalPrior{0.7}, .start_scale = 0.3});
  double expected = 0;
  for (const char* name : {"net.0.weight", "net.0.bias"}) {
    const at::Tensor mean = q.weights.at(name).flatten();
    for (int64_t i = 0; i < mean.numel(); ++i) {
      const double m = mean[i].item<double>();
      expected += std::log(0.7 / 0.3) + (0.09 + m * m) / (2 * 0.49) - 0.5;
    }
  }
  EXPECT_NEAR(q.bound.kl(q.bound.draw(Stream(1))).item<double>(), expected, 1e-9 * expected);
}

TEST(RandomWeights, DrawsTheTokensOfABatchAlone) {
  const Example text = examples()[2];
  for (const SitePlan& plan :
       {SitePlan{}, SitePlan{.structure = "low_rank", .rank = 2}, SitePlan{.structure = "rank_one"}}) {
    const Posterior q(text.spec, plan);
    const at::Tensor tokens = tokens_of(text.x);
    EXPECT_TRUE(at::equal(tokens, at::tensor({1, 2, 5, 9}, at::kLong)));
    const WeightDraw draw = q.bound.draw(Stream(3), {tokens});
    EXPECT_EQ(sizes_of(draw.binding.maps[0]).first, 4);
    EXPECT_TRUE(at::isfinite(q.network(text.x, draw.binding)).all().item<bool>());
    // The KL of all rows does not depend on which were drawn; weighted, it is a sum over the drawn rows.
    const double whole = q.bound.kl(q.bound.draw(Stream(3))).item<double>();
    EXPECT_NEAR(q.bound.kl(draw).item<double>(), whole, 1e-9 * whole);
    double others = 0;
    std::vector<at::Tensor> batches = {at::tensor({1, 2, 5, 9}, at::kLong),
                                       at::tensor({0, 3, 4, 6, 7, 8}, at::kLong)};
    for (const at::Tensor& batch : batches) {
      const WeightDraw some = q.bound.draw(Stream(3), {batch});
      const at::Tensor none = at::zeros({batch.size(0)}, at::kDouble);
      others += q.bound.kl(some, {none + 1}).item<double>() - q.bound.kl(some, {none}).item<double>();
    }
    const WeightDraw all = q.bound.draw(Stream(3));
    const at::Tensor zero = at::zeros({10}, at::kDouble);
    EXPECT_NEAR(others, whole - q.bound.kl(all, {zero}).item<double>(), 1e-9 * whole);
  }
  EXPECT_FALSE(tokens_of(Stream(1).normal({2, 2})).defined());
}

TEST(RandomWeights, SitesOutsideThePlanAreDeterministic) {
  const Network network({{{3}}, {Linear{4}, LayerNorm{}, Linear{2}}}, "net");
  const RandomWeights random(network.layout(), {{{"net.2.weight", SitePlan{}}}});
  Weights weights;
  for (const ParameterSpec& one : random.parameters(Stream(2))) weights[one.name] = one.start;
  EXPECT_TRUE(weights.contains("net.2.weight.spread"));
  EXPECT_FALSE(weights.contains("net.0.weight.spread"));
  const WeightPosterior q = random.bound(as_type(weights, at::kDouble));
  const Binding draw = q.draw(Stream(1)).binding;
  EXPECT_TRUE(at::equal(dense(draw.maps[0]), weights.at("net.0.weight")));
  EXPECT_FALSE(at::equal(dense(draw.maps[1]), weights.at("net.2.weight")));
}

/// Returns the message of the error that `call` throws.
template <class Call>
std::string said(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

// One pass over stacked draws gives the outputs of a pass for each draw. The last row is padded.
TEST(RandomWeights, StackedDrawsComputeInOnePass) {
  for (const Example& example : examples()) {
    if (std::string(example.name) == "conv2d") continue;
    for (const char* structure : {"mean_field", "low_rank", "rank_one"}) {
      const Network network(example.spec, "net");
      WeightPlan plan =
          plan_for_all(network.layout(), {.structure = structure, .rank = structure[0] == 'l' ? 2 : 0});
      if (std::string(structure) == "rank_one")
        std::erase_if(plan.sites, [](const auto& site) { return site.second.structure != "rank_one"; });
      const RandomWeights random(network.layout(), plan);
      const Weights weights = Posterior::started(random);
      const WeightPosterior posterior = random.bound(as_type(weights, at::kDouble));
      Input rows{example.x};
      if (example.x.dim() == 3 || example.x.scalar_type() == at::kLong) {
        rows.mask = at::ones({example.x.size(0), example.x.size(1)}, at::kBool);
        rows.mask.select(0, -1).narrow(0, 2, example.x.size(1) - 2).fill_(false);
      }
      std::vector<Binding> draws;
      std::vector<at::Tensor> apart;
      for (uint64_t s = 0; s < 3; ++s) {
        draws.push_back(posterior.draw(Stream(7).split(s)).binding);
        apart.push_back(network(rows, draws.back()));
      }
      const at::Tensor together = network(rows, stacked(draws));
      EXPECT_TRUE(at::allclose(together, at::cat(apart), 1e-10, 1e-12)) << example.name << " " << structure;
    }
  }
}

TEST(RandomWeights, RefusesAPlanThatDoesNotFit) {
  const Network network({{{3}}, {Linear{4}}}, "net");
  const auto refusal = [&](const std::string& site, const SitePlan& plan) {
    return said([&] { RandomWeights(network.layout(), {{{site, plan}}}); });
  };
  EXPECT_EQ(refusal("net.7.weight", {}),
            "[weight_plan] expected sites of the network; received 'net.7.weight', which it lacks");
  const SitePlan zero{.structure = "low_rank", .rank = 0};
  EXPECT_EQ(refusal("net.0.weight", zero),
            "[low_rank] expected a rank from 1 to 65536 at 'net.0.weight', a matrix of 4 x 3; received 0");
  const SitePlan wide{.structure = "low_rank", .rank = 65537};
  EXPECT_NE(refusal("net.0.weight", wide).find("received 65537"), std::string::npos);
  EXPECT_NE(refusal("net.0.bias", zero).find("mean_field at 'net.0.bias', which is no matrix of a layer"),
            std::string::npos);
  const Network text({{{3}, true}, {Embedding{10, 4}, MeanOverSteps{}}}, "net");
  const SitePlan one{.structure = "low_rank", .rank = 1};
  EXPECT_NE(said([&] {
              RandomWeights(text.layout(), {{{"net.0.positions", one}}});
            }).find("which is no matrix of a layer"),
            std::string::npos);
  EXPECT_NE(refusal("net.0.weight", {.structure = "circulant"}).find("mean_field, low_rank, rank_one"),
            std::string::npos);
  EXPECT_NE(refusal("net.0.weight", {.law = "cauchy"}).find("gaussian, laplace"), std::string::npos);
  const Network attention({{{4, 6}}, {Attention{2}}}, "net");
  EXPECT_NE(said([&] {
              RandomWeights(attention.layout(), {{{"net.0.q", SitePlan{}}}});
            }).find("all 3 matrices"),
            std::string::npos);
}

TEST(RandomWeights, RefusesFactorsOfOtherShapes) {
  Posterior q(mlp(3, 4, 1, "tanh"), {.structure = "low_rank", .rank = 2});
  q.weights["net.0.weight.a"] = at::zeros({4, 3}, at::kDouble);
  EXPECT_NE(said([&] { q.random.bound(as_type(q.weights, at::kDouble)); }).find("net.0.weight.a"),
            std::string::npos);
  q.weights.erase("net.0.weight.a");
  EXPECT_THROW(q.random.bound(as_type(q.weights, at::kDouble)), DataError);
}

TEST(WeightPlan, SurvivesItsJson) {
  const WeightPlan plan{
      {{"net.0.weight",
        {"low_rank", "laplace", MixturePrior{}, 0.02, /*start_ratio=*/0.1, "svd", /*damping=*/0.5, 3}},
       {"net.0.bias", {}}}};
  EXPECT_EQ(to_json(weight_plan_from_json(to_json(plan))), to_json(plan));
  EXPECT_THROW(weight_plan_from_json(nlohmann::json::array()), std::invalid_argument);
  nlohmann::json broken = to_json(plan);
  broken["net.0.weight"]["rank"] = -1;
  EXPECT_THROW(weight_plan_from_json(broken), std::invalid_argument);
  broken["net.0.weight"]["rank"] = 3;
  const nlohmann::json faults = {{"start_scale", 0}, {"start_ratio", -1}, {"start", "cold"}, {"damping", 0}};
  for (const auto& [key, value] : faults.items()) {
    nlohmann::json bad = to_json(plan);
    bad["net.0.bias"][key] = value;
    EXPECT_THROW(weight_plan_from_json(bad), std::invalid_argument) << key;
  }
}

}  // namespace
}  // namespace slimbayes
