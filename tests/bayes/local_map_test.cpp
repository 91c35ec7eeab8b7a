// Drawn outputs in place of drawn weights (local reparametrisation).
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {
namespace {

/// A network of one layer whose matrix is random, in float64.
struct LocalLayer {
  Network network;
  RandomWeights random;
  std::map<std::string, at::Tensor> values;
  WeightPosterior posterior;

  explicit LocalLayer(const NetworkSpec& spec)
      : network(spec, "net"),
        random(network.layout(), {{{"net.0.weight", {.start_scale = 0.3}}}}),
        values(started(random)),
        posterior(random.bound([this](const std::string& name) { return values.at(name); })) {}

  static std::map<std::string, at::Tensor> started(const RandomWeights& random) {
    std::map<std::string, at::Tensor> all;
    for (const ParameterSpec& one : random.parameters(Stream(2)))
      all[one.name] = one.start.clone().set_requires_grad(true);
    return all;
  }

  at::Tensor output(const at::Tensor& x, uint64_t s, bool local) const {
    return network(x, posterior.draw(Stream(5).split(s), {{}, local}).binding);
  }
};

const NetworkSpec kLinear{{{3}}, {Linear{2}}};
const NetworkSpec kConvolution{{{2, 4, 4}}, {Conv2d{3}}};

TEST(LocalMap, OutputsHaveTheMomentsOfDrawnWeights) {
  // At each row, both ways draw outputs of one mean and one variance. Only the drawn outputs of two rows are
  // independent.
  const at::NoGradGuard no_grad;
  constexpr int64_t kDraws = 4000;
  const std::pair<NetworkSpec, at::Tensor> cases[] = {{kLinear, Stream(1).normal({2, 3})},
                                                      {kConvolution, Stream(1).normal({2, 2, 4, 4})}};
  for (const auto& [spec, x] : cases) {
    const LocalLayer layer(spec);
    std::vector<at::Tensor> local, weights;
    for (uint64_t s = 0; s < kDraws; ++s) {
      local.push_back(layer.output(x, s, true));
      weights.push_back(layer.output(x, s, false));
    }
    const at::Tensor a = at::stack(local), b = at::stack(weights);
    const at::Tensor sd = b.std(0);
    EXPECT_LT(((a.mean(0) - b.mean(0)).abs() / sd).max().item<double>(), 6 * std::sqrt(2.0 / kDraws));
    EXPECT_LT((a.var(0) / b.var(0) - 1).abs().max().item<double>(), 6 * std::sqrt(4.0 / kDraws));
  }
}

TEST(LocalMap, TheGradientIsThatOfItsFormulaAlsoWhereAnInputIsZero) {
  const LocalLayer layer(kLinear);
  const at::Tensor x = at::tensor({0.5, -1.0, 2.0, 0.0, 0.0, 0.0}, at::kDouble).view({2, 3});
  const at::Tensor y = layer.output(x, 0, true);
  std::vector<at::Tensor> parameters = {layer.values.at("net.0.weight"),
                                        layer.values.at("net.0.weight.spread")};
  const auto g = torch::autograd::grad({y.sum()}, parameters);
  EXPECT_TRUE(g[0].isfinite().all().item<bool>() && g[1].isfinite().all().item<bool>());
  EXPECT_TRUE(at::allclose(g[0], x.sum(0).expand({2, 3})));
  // dy_i / d sd_ij = e_i x_j^2 sd_ij / sqrt(var_i), with e_i = (y_i - mean_i) / sqrt(var_i)
  const at::Tensor spread = parameters[1].detach(), sd = at::softplus(spread);
  const at::Tensor var = at::linear(x[0].square(), sd.square());
  const at::Tensor e =
      (y[0].detach() - at::linear(x[0], parameters[0].detach(), layer.values.at("net.0.bias").detach())) /
      var.sqrt();
  const at::Tensor expected =
      e.unsqueeze(1) * x[0].square() * sd / var.sqrt().unsqueeze(1) * spread.sigmoid();
  EXPECT_TRUE(at::allclose(g[1], expected));
}

TEST(LocalMap, TheKlNeedsNoDraw) {
  const LocalLayer layer(kConvolution);
  const at::NoGradGuard no_grad;
  const double with = layer.posterior.kl(layer.posterior.draw(Stream(1), {{}, true})).item<double>(),
               without = layer.posterior.kl(layer.posterior.draw(Stream(2))).item<double>();
  EXPECT_NEAR(with, without, 1e-12 * std::abs(without));
}

TEST(LocalMap, OtherStructuresAndLayersDrawTheirWeights) {
  const at::NoGradGuard no_grad;
  const Network network({{{4, 3}}, {Lstm{2}, LastStep{}, Linear{2}}}, "net");
  SitePlan low{.structure = "low_rank", .rank = 1};
  const RandomWeights random(network.layout(), {{{"net.0.weight_ih", {}}, {"net.2.weight", low}}});
  std::map<std::string, at::Tensor> values;
  for (const ParameterSpec& one : random.parameters(Stream(2))) values[one.name] = one.start;
  const WeightPosterior q = random.bound([&](const std::string& name) { return values.at(name); });
  const at::Tensor x = Stream(1).normal({5, 4, 3});
  EXPECT_TRUE(
      at::equal(network(x, q.draw(Stream(3), {{}, true}).binding), network(x, q.draw(Stream(3)).binding)));
}

}  // namespace
}  // namespace slimbayes
