// The multipliers and rates of Scales against formulas written out, and the claim of mu-P that they are made
// for: the norm of the parameter gradients does not depend on the width.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/network/parametrisation.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {
namespace {

Parameters parameters_of(const NetworkSpec& spec, at::ScalarType type = at::kDouble) {
  return Parameters(network_parameters(spec, "net", "all", Stream(1)), type);
}

BoundNetwork network_of(const NetworkSpec& spec, const Parameters& p) {
  return BoundNetwork(spec, "net", [&](const std::string& name) { return p[name]; });
}

/// Expects that the layer computes s f(x, w) + t b and has that gradient, where `plain` is f with its bias.
void expect_scaled(NetworkSpec spec, const Scales& scales, const at::Tensor& x,
                   const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& plain) {
  std::visit(
      [&](auto& layer) {
        if constexpr (requires { layer.scales; }) layer.scales = scales;
      },
      spec.layers[0]);
  const Parameters p = parameters_of(spec);
  const at::Tensor seed = Stream(3).normal(network_of(spec, p)(x).sizes());
  const at::Tensor rows = x.clone().set_requires_grad(true);
  const at::Tensor y = network_of(spec, p)(rows);
  (y * seed).sum().backward();

  const auto leaf = [](const at::Tensor& value) { return value.detach().clone().set_requires_grad(true); };
  const at::Tensor w = leaf(p["net.0.weight"]), own_rows = leaf(x);
  const bool bias = std::ranges::count(p.names(), "net.0.bias") > 0;
  const at::Tensor b = bias ? leaf(p["net.0.bias"]) : at::Tensor();
  at::Tensor expected = scales.weight * plain(own_rows, w);
  if (bias) expected = expected + scales.bias * (expected.dim() == 4 ? b.view({-1, 1, 1}) : b);
  (expected * seed).sum().backward();
  EXPECT_TRUE(at::allclose(y, expected, 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(p["net.0.weight"].grad(), w.grad(), 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(rows.grad(), own_rows.grad(), 1e-12, 1e-12));
  if (bias) {
    EXPECT_TRUE(at::allclose(p["net.0.bias"].grad(), b.grad(), 1e-12, 1e-12));
  }
}

TEST(Scales, MultiplyWeightAndBiasOfALinearLayer) {
  const auto plain = [](const at::Tensor& x, const at::Tensor& w) { return at::matmul(x, w.t()); };
  for (const Scales& scales : {Scales{.weight = 3, .bias = 0.5}, Scales{.bias = 4}, Scales{.weight = 0.1}}) {
    for (bool bias : {true, false}) {
      for (int64_t out : {2, 9}) {  // narrows, widens
        expect_scaled({{{5}}, {Linear{out, bias}}}, scales, Stream(2).normal({4, 5}), plain);
        expect_scaled({{{3, 5}}, {Linear{out, bias}}}, scales, Stream(2).normal({4, 3, 5}), plain);
      }
    }
  }
}

TEST(Scales, MultiplyWeightAndBiasOfAConvolution) {
  const auto plain = [](const at::Tensor& x, const at::Tensor& w) { return at::conv2d(x, w, {}, 2, 1); };
  for (bool bias : {true, false})
    expect_scaled({{{2, 7, 6}}, {Conv2d{4, 3, 2, 1, bias}}}, {.weight = 3, .bias = 0.5},
                  Stream(2).normal({4, 2, 7, 6}), plain);
}

TEST(Scales, AreWrittenInTheTap) {
  const NetworkSpec spec{{{5}}, {Linear{3, true, {.weight = 3, .bias = 0.5}}}};
  const Parameters p = parameters_of(spec);
  const Tap tap = network_of(spec, p).traced(Stream(2).normal({4, 5})).taps.at(0);
  EXPECT_EQ(tap.weight_scale, 3);
  EXPECT_EQ(tap.bias_scale, 0.5);
  ASSERT_EQ(tap.parameters.size(), 2u);
  EXPECT_TRUE(tap.parameters[0].is_same(p["net.0.weight"]));
  EXPECT_TRUE(tap.parameters[1].is_same(p["net.0.bias"]));
}

TEST(Scales, StartIsTheSdOfTheInitialValues) {
  const NetworkSpec spec{{{400}}, {Linear{300, true, {.start = 0.25}}}};
  const Parameters p = parameters_of(spec);
  EXPECT_NEAR(p["net.0.weight"].std().item<double>(), 0.25, 0.005);
  EXPECT_NEAR(p["net.0.bias"].std().item<double>(), 0.25, 0.05);
  EXPECT_GT(p["net.0.weight"].abs().max().item<double>(), 0.9);  // normal, not uniform
}

TEST(Scales, RatesReachTheBlocks) {
  NetworkSpec spec = mlp(3, 200, 2, "relu");
  spec.layers.push_back(Linear{1});
  spec = parametrised(spec, "mup", 50);
  const Parameters p = parameters_of(spec, at::kFloat);
  std::map<double, int64_t> sizes;
  for (const ParameterBlock& block : p.blocks()) sizes[block.rate] += block.values.numel();
  const int64_t half = 3 * 200 + 200 + 200 + 200;  // first weight and bias, hidden bias, output weight
  EXPECT_EQ(sizes, (std::map<double, int64_t>{{0.25, 200 * 200}, {0.5, half}, {1, 1}}));
}

// --- The width sweep

/// Returns the mean over rows of the squared norm of the gradients of all parameters before the last layer:
/// for a linear layer (s^2 |a|^2 + t^2) |delta|^2, delta the gradient of its output.
double gradient_norm(const BoundNetwork& network, const at::Tensor& x) {
  Traced traced = network.traced(x);
  traced.taps.pop_back();
  for (const Tap& tap : traced.taps) tap.output.retain_grad();
  traced.output.sum().backward();
  at::Tensor norms = at::zeros({x.size(0)}, at::kDouble);
  for (const Tap& tap : traced.taps) {
    const double s = tap.weight_scale, t = tap.bias_scale;
    norms += ((s * s * tap.input.square().sum(1) + t * t) * tap.output.grad().square().sum(1)).detach();
  }
  return norms.mean().item<double>();
}

/// Adam without weight decay, with each block's rate (Kingma and Ba 2015).
void adam_steps(const Parameters& p, const BoundNetwork& network, const at::Tensor& x, const at::Tensor& y,
                int steps, double rate) {
  const std::vector<ParameterBlock> blocks = p.blocks();
  std::vector<at::Tensor> first, second;
  for (const ParameterBlock& block : blocks) {
    first.push_back(at::zeros_like(block.values));
    second.push_back(at::zeros_like(block.values));
  }
  for (int step = 1; step <= steps; ++step) {
    p.grads("all").zero_();
    (network(x).squeeze(1) - y).square().mean().backward();
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < blocks.size(); ++i) {
      first[i].mul_(0.9).add_(blocks[i].gradient, 0.1);
      second[i].mul_(0.999).addcmul_(blocks[i].gradient, blocks[i].gradient, 0.001);
      const at::Tensor scale = (second[i] / (1 - std::pow(0.999, step))).sqrt_().add_(1e-12);
      blocks[i].values.addcdiv_(first[i], scale, -rate * blocks[i].rate / (1 - std::pow(0.9, step)));
    }
  }
  p.grads("all").zero_();
}

/// The mean squared gradient norm at each width, at the start and after some steps of Adam.
struct Sweep {
  std::vector<double> start, trained;
};

Sweep sweep(const std::string& name, int steps) {
  const at::Tensor x = Stream(5).normal({8, 4}, at::kFloat), y = x.select(1, 0) * x.select(1, 1);
  Sweep norms;
  for (int64_t width : {64, 512, 4096}) {
    NetworkSpec spec = mlp(4, width, 2, "relu");
    spec.layers.push_back(Linear{1});
    spec = parametrised(spec, name, 64);
    const Parameters p = parameters_of(spec, at::kFloat);
    const BoundNetwork network = network_of(spec, p);
    norms.start.push_back(gradient_norm(network, x));
    adam_steps(p, network, x, y, steps, 1e-3);
    norms.trained.push_back(gradient_norm(network, x));
  }
  return norms;
}

double spread(const std::vector<double>& norms) {
  return *std::ranges::max_element(norms) / *std::ranges::min_element(norms);
}

TEST(Parametrised, MupKeepsTheGradientNormAtEveryWidth) {
  const Sweep norms = sweep("mup", 20);
  EXPECT_LT(spread(norms.start), 2.5);
  EXPECT_LT(spread(norms.trained), 2.5);
}

TEST(Parametrised, StandardGradientsGrowWithTheWidth) {
  const Sweep norms = sweep("standard", 0);  // in proportion to the width: 64 times
  EXPECT_GT(norms.start.back(), 20 * norms.start.front());
}

}  // namespace
}  // namespace slimbayes
