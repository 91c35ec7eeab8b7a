#include "slimbayes/nn/network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/nn/layers.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

Parameters small(at::ScalarType type = at::kDouble) {
  return Parameters(network_parameters(tabular_resnet(3, 5, 2), "net", "all", Stream(1)), type);
}

BoundNetwork bind(const Parameters& p) {
  return BoundNetwork(tabular_resnet(3, 5, 2), "net", [&](const std::string& name) { return p[name]; });
}

TEST(Network, TabularResnetEqualsItsFormulaWrittenOut) {
  Parameters p = small();
  at::Tensor x = Stream(2).normal({4, 3});
  auto linear = [&](const at::Tensor& in, const std::string& name) {
    return at::matmul(in, p["net." + name + ".weight"].t()) + p["net." + name + ".bias"];
  };
  auto norm = [&](const at::Tensor& in, const std::string& name) {
    at::Tensor centred = in - in.mean(-1, true);
    return centred / (centred.square().mean(-1, true) + 1e-5).sqrt() * p["net." + name + ".weight"] +
           p["net." + name + ".bias"];
  };
  auto silu = [](const at::Tensor& in) { return in * at::sigmoid(in); };
  at::Tensor h = linear(x, "0");
  for (const char* block : {"1", "2"}) {
    std::string b = block;
    h = h + linear(silu(linear(norm(h, b + ".0"), b + ".1")), b + ".3");
  }
  EXPECT_TRUE(at::allclose(bind(p)(x), silu(norm(h, "3")), 1e-12, 1e-12));
}

TEST(Network, RealMlpEqualsItsFormulaWrittenOut) {
  const NetworkSpec spec = network_for({.network = "realmlp", .hidden = 6, .blocks = 1}, {{2}});
  const Parameters p(network_parameters(spec, "net", "all", Stream(1)), at::kDouble);
  const at::Tensor x = 4 * Stream(2).normal({5, 2});
  const at::Tensor near = x / (1 + x.square() / 9).sqrt();
  std::vector<at::Tensor> parts;
  for (int64_t j = 0; j < 2; ++j) {
    const at::Tensor own = near.narrow(1, j, 1);
    const auto of = [&](const char* name) { return p[std::string("net.1.") + name][j]; };
    const at::Tensor cosines = at::cos(2 * M_PI * own * of("frequency") + of("phase"));
    parts.push_back(at::matmul(cosines, of("weight").t()) + of("bias"));
    parts.push_back(own);
  }
  const at::Tensor h = at::cat(parts, 1) * p["net.2.weight"];
  const at::Tensor z = at::matmul(h, p["net.3.weight"].t()) / std::sqrt(8.0) + p["net.3.bias"];
  const BoundNetwork network(spec, "net", [&](const std::string& name) { return p[name]; });
  EXPECT_TRUE(at::allclose(network(x), z * at::tanh(at::log1p(at::exp(z))), 1e-12, 1e-12));
  EXPECT_TRUE(at::equal(p["net.2.weight"], at::ones({8}, at::kDouble)));
  EXPECT_LE(p["net.1.phase"].abs().max().item<double>(), M_PI);
  const std::vector<ParameterBlock> blocks = p.blocks();
  EXPECT_TRUE(std::ranges::any_of(blocks, [](const ParameterBlock& b) { return b.rate == 120; }));
}

TEST(Network, StartsAsPyTorchDoes) {
  Parameters p(network_parameters({{{400}}, {Linear{300}}}, "net", "all", Stream(5)), at::kFloat);
  at::Tensor w = p["net.0.weight"].detach() * std::sqrt(400.0);
  EXPECT_LE(w.abs().max().item<double>(), 1.0001);
  EXPECT_NEAR(w.square().mean().item<double>(), 1.0 / 3, 0.01);
  EXPECT_NEAR(w.mean().item<double>(), 0, 0.01);
}

TEST(Network, RefusesWeightsOfAnotherShape) {
  Weights weights = snapshot(small());
  weights["net.0.weight"] = at::zeros({5, 4}, at::kDouble);
  EXPECT_THROW(BoundNetwork(tabular_resnet(3, 5, 2), "net", as_type(weights, at::kDouble)),
               std::invalid_argument);
}

TEST(Parameters, ViewsAndGradientsShareTheFlatBuffers) {
  Parameters p = small();
  at::Tensor flat = p.values("all"), grad = p.grads("all");
  EXPECT_EQ(flat.numel(), p.size());
  bind(p)(Stream(2).normal({4, 3})).sum().backward();
  EXPECT_GT(grad.abs().sum().item<double>(), 0);
  int64_t offset = 0;
  for (const std::string& name : p.names()) {
    at::Tensor g = p[name].grad().reshape({-1});
    EXPECT_TRUE(at::equal(grad.narrow(0, offset, g.numel()), g)) << name;
    offset += g.numel();
  }
  flat.fill_(7);
  EXPECT_EQ(p["net.0.bias"].sum().item<double>(), 35);
  grad.zero_();
  EXPECT_EQ(p["net.0.weight"].grad().abs().sum().item<double>(), 0);
}

TEST(Network, TracesWhatGoesIntoAndOutOfEachMap) {
  const Parameters p = small();
  const at::Tensor x = Stream(2).normal({4, 3});
  const Traced traced = bind(p).traced(x);
  EXPECT_TRUE(at::equal(traced.output, bind(p)(x)));
  std::vector<std::string> kinds;
  for (const Tap& tap : traced.taps) kinds.push_back(tap.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"linear", "layer_norm", "linear", "linear", "layer_norm",
                                             "linear", "linear", "layer_norm"}));
  EXPECT_EQ(traced.taps[0].layer, "net.0");
  EXPECT_EQ(traced.taps[3].layer, "net.1.3");
  EXPECT_TRUE(at::equal(traced.taps[0].input, x));
  for (const Tap& tap : traced.taps) {
    const at::Tensor weight = p[tap.layer + ".weight"], bias = p[tap.layer + ".bias"];
    const at::Tensor y = tap.kind == "linear" ? at::linear(tap.input, weight, bias)
                                              : at::layer_norm(tap.input, weight.sizes(), weight, bias);
    EXPECT_TRUE(at::allclose(tap.output, y)) << tap.layer;
  }
}

// A Gram matrix over the taps leaves no parameter out.
TEST(Network, EveryParameterBelongsToOneTap) {
  NetworkOptions options;
  options.hidden = 8;
  options.heads = 2;
  options.blocks = 2;
  const std::vector<std::pair<std::string, Shape>> networks = {
      {"tabular_resnet", {{3}}}, {"mlp", {{3}}},
      {"realmlp", {{3}}},        {"lstm", {{5, 3}}},
      {"transformer", {{5, 3}}}, {"transformer", {{6}, true}},
      {"convnet", {{1, 8, 8}}},  {"resnet18", {{3, 16, 16}}},
      {"fcn", {{3, 8, 12}}}};
  for (const auto& [name, shape] : networks) {
    options.network = name;
    const NetworkSpec spec = network_for(options, shape, shape.tokens ? 11 : 0, name == "fcn");
    const Parameters p(network_parameters(spec, "net", "all", Stream(1)), at::kFloat);
    const BoundNetwork network(spec, "net", [&](const std::string& key) { return p[key]; });
    std::vector<int64_t> sizes = {2};
    sizes.insert(sizes.end(), shape.sizes.begin(), shape.sizes.end());
    const at::Tensor x = shape.tokens ? at::ones(sizes, at::kLong) : Stream(2).normal(sizes, at::kFloat);
    const std::vector<Tap> taps = network.traced(x).taps;
    for (const std::string& key : p.names()) {
      EXPECT_EQ(is_buffer(key), !p[key].requires_grad()) << key;
      if (!p[key].requires_grad()) continue;
      const auto owns = [&](const Tap& tap) {
        const size_t n = tap.layer.size();
        return key.starts_with(tap.layer) && key.size() > n && (key[n] == '.' || key[n] == '_') &&
               key.find('.', n + 1) == std::string::npos;
      };
      EXPECT_EQ(std::ranges::count_if(taps, owns), 1) << name << " " << key;
    }
  }
}

TEST(Parameters, BuffersHaveNoGradient) {
  const NetworkSpec spec{{{2, 4, 4}}, {BatchNorm{}, MeanOverImage{}}};
  const Parameters p(network_parameters(spec, "net", "all", Stream(1)), at::kFloat);
  ASSERT_TRUE(p.has(kBuffers));
  EXPECT_EQ(p.values(kBuffers).numel(), 4);
  EXPECT_FALSE(p["net.0.running_var"].requires_grad());
  const BoundNetwork network(spec, "net", [&](const std::string& name) { return p[name]; });
  network(Stream(2).normal({3, 2, 4, 4}, at::kFloat), {true});
  EXPECT_NE(p.values(kBuffers)[2].item<float>(), 1);  // the running variance has moved
  EXPECT_FALSE(small().has(kBuffers));
}

TEST(Network, ABatchNormOfVectorsScalesEachFeatureOfTheBatch) {
  const NetworkSpec spec{{{3}}, {BatchNorm{}}};
  const Parameters p(network_parameters(spec, "net", "all", Stream(1)), at::kFloat);
  const BoundNetwork network(spec, "net", [&](const std::string& name) { return p[name]; });
  const at::Tensor x = 5 + 2 * Stream(2).normal({40, 3}, at::kFloat);
  const at::Tensor z = (x - x.mean(0)) / (x.var(0, false) + 1e-5).sqrt();
  EXPECT_TRUE(at::allclose(network(x, {true}), z, 1e-4, 1e-5));
  EXPECT_NEAR(p["net.0.running_mean"].mean().item<double>(), 0.1 * x.mean().item<double>(), 1e-4);
  const at::Tensor one = network(x.narrow(0, 0, 1));  // in prediction a row's answer needs no other rows
  EXPECT_TRUE(at::equal(one, network(x).narrow(0, 0, 1)));
}

// By the statistics of the rows of other processes: here there are none.
TEST(Network, ABatchNormOfSummedStatisticsIsThatOfItsBatch) {
  for (const Shape& shape : {Shape{{3}}, Shape{{3, 4, 4}}}) {
    const NetworkSpec spec{shape, {BatchNorm{}}};
    std::vector<int64_t> sizes = shape.sizes;
    sizes.insert(sizes.begin(), 40);
    const at::Tensor x = 5 + 2 * Stream(2).normal(sizes, at::kFloat),
                     along = Stream(3).normal(sizes, at::kFloat);
    std::vector<at::Tensor> found;
    for (const bool summed : {false, true}) {
      const Parameters p(network_parameters(spec, "net", "all", Stream(1)), at::kFloat);
      const BoundNetwork network(
          spec, "net", [&](const std::string& name) { return p[name]; }, Execution::libtorch);
      const at::Tensor input = x.clone().requires_grad_();
      ForwardContext context{true};
      if (summed) context.total = [](const at::Tensor& sums) { return sums; };
      const at::Tensor y = network(input, context);
      (y * along).sum().backward();
      for (const at::Tensor& one : {y.detach(), input.grad(), p.grads("all"), p.values(kBuffers)})
        found.push_back(one.clone());
    }
    for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(at::allclose(found[i], found[i + 4], 1e-4, 1e-4)) << i;
  }
}

TEST(Parameters, GroupsLieSideBySide) {
  at::Tensor one = at::ones({2}, at::kDouble);
  Parameters p({{"a", "x", one}, {"b", "y", 2 * one}, {"c", "x", 3 * one}}, at::kFloat);
  EXPECT_EQ(p.names(), (std::vector<std::string>{"a", "c", "b"}));
  EXPECT_EQ(p.values("x").sum().item<double>(), 8);
  EXPECT_THROW(Parameters({{"a", "x", one}, {"a", "x", one}}, at::kFloat), std::logic_error);
}

TEST(Parameters, BlocksShareGroupAndFactors) {
  const at::Tensor one = at::ones({2}, at::kDouble);
  const Parameters p({{"a", "x", one},
                      {"b", "x", 2 * one, 0.5},
                      {"c", "y", 3 * one},
                      {"d", "x", 4 * one},
                      {"m", kBuffers, one}},
                     at::kFloat);
  EXPECT_EQ(p.names(), (std::vector<std::string>{"a", "d", "b", "c", "m"}));
  EXPECT_EQ(p.values("x").sum().item<double>(), 14);
  const std::vector<ParameterBlock> blocks = p.blocks();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].group, "x");
  EXPECT_EQ(blocks[0].values.sum().item<double>(), 10);
  EXPECT_EQ(blocks[1].rate, 0.5);
  EXPECT_EQ(blocks[1].values.sum().item<double>(), 4);
  EXPECT_EQ(blocks[2].group, "y");
  blocks[1].gradient.fill_(7);
  EXPECT_EQ(p["b"].grad().sum().item<double>(), 14);
}

}  // namespace
}  // namespace slimbayes
