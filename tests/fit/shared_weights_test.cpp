// rich-bll around a TorchScript module that uses one weight several times: its gradients and its variance are
// those of the dense formulas.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "slimbayes/fit/post_hoc.h"
#include "slimbayes/ntk/enrichment.h"
#include "tests/methods/contract.h"
#include "tests/nn/modules.h"

namespace slimbayes {
namespace {

/// A network in float64 whose second layer is the transpose of a square one, and whose last layer shares its
/// weight with that, too.
struct Tied {
  std::vector<modules::LinearWeights> layers;
  Tied() : layers(modules::random_layers({2, 4, 4, 4}, 5, at::kDouble)) {
    layers[2].weight = layers[1].weight;
    layers.push_back(layers[1]);
    layers.back().bias = modules::random_layers({2, 4}, 6, at::kDouble)[0].bias;
  }
};

TEST(PostHoc, SharedWeightsHaveTheGradientOfAllTheirUses) {
  const Tied tied;
  const ScriptNetwork module = ScriptNetwork::of(modules::mlp(tied.layers), "head");
  const at::Tensor x = Stream(7).normal({15, 2}), q = Stream(8).normal({15, 5});
  // Dense: leaves of our own, one for the shared weight; the last layer's use of it is detached.
  const auto leaf = [](const at::Tensor& value) { return value.clone().set_requires_grad(true); };
  const at::Tensor w0 = leaf(tied.layers[0].weight), b0 = leaf(tied.layers[0].bias),
                   w = leaf(tied.layers[1].weight), b1 = leaf(tied.layers[1].bias),
                   b2 = leaf(tied.layers[2].bias);
  const at::Tensor h =
      at::tanh(at::linear(at::tanh(at::linear(at::tanh(at::linear(x, w0, b0)), w, b1)), w, b2));
  const at::Tensor f = at::linear(h, w.detach(), tied.layers[3].bias).select(1, 2);
  std::vector<at::Tensor> rows;
  for (int64_t i = 0; i < 15; ++i) {
    std::vector<at::Tensor> flat;
    for (const at::Tensor& g : torch::autograd::grad({f[i]}, {w0, b0, w, b1, b2}, {}, true))
      flat.push_back(g.flatten());
    rows.push_back(at::cat(flat));
  }
  const at::Tensor a = at::stack(rows).t().mm(q), dense = a.t().mm(a);
  GradientRows given{15, [&](int64_t from, int64_t to) { return Input(x.slice(0, from, to)); }};
  given.output = at::full({15}, 2, at::kLong);
  const Enrichment found = enrichment(gradient_model(module), given, q, {}, Stream(1));
  EXPECT_EQ(found.route, "weighted");
  EXPECT_EQ(found.reason, "the routes gram and sums do not know a module without taps");
  EXPECT_LT((found.gram - dense).abs().max().item<double>(), 1e-6 * dense.abs().max().item<double>());
}

TEST(PostHoc, TheVarianceOfASharedWeightIsTheDenseOne) {  // R theorems 3.1 and 3.2, in float64
  auto layers = modules::random_layers({2, 6, 6, 1}, 5, at::kDouble);
  layers.insert(layers.begin() + 1, layers[1]);  // the square layer is applied twice, with one weight
  RichBllOptions options;  // the weighted route, the only exact one of a module, and a prior sd of 0.7
  options.route = "weighted";
  options.posterior.choice.noise = "mse";
  options.posterior.choice.prior = "fixed";
  options.posterior.choice.prior_sd = 0.7;
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(30, 9);
  const ScriptNetwork module = ScriptNetwork::of(modules::mlp(layers), "head");
  const Regression p = contract::answer(*rich_bll(module, split, options), data);
  const auto leaf = [](const at::Tensor& value) { return value.clone().set_requires_grad(true); };
  const std::vector<at::Tensor> leaves = {leaf(layers[0].weight), leaf(layers[0].bias),
                                          leaf(layers[1].weight), leaf(layers[1].bias)};
  const auto jacobians = [&](const at::Tensor& x) {
    at::Tensor h = at::tanh(at::linear(x, leaves[0], leaves[1]));
    for (int i = 0; i < 2; ++i) h = at::tanh(at::linear(h, leaves[2], leaves[3]));
    const at::Tensor f = at::linear(h, layers[3].weight, layers[3].bias).squeeze(1);
    std::vector<at::Tensor> rows;
    for (int64_t i = 0; i < x.size(0); ++i) {
      std::vector<at::Tensor> flat;
      for (const at::Tensor& g : torch::autograd::grad({f[i]}, leaves, {}, true)) flat.push_back(g.flatten());
      rows.push_back(at::cat(flat));
    }
    const at::Tensor last = at::cat({h.detach(), at::ones({x.size(0), 1}, at::kDouble)}, 1);
    return std::pair(at::stack(rows), last);
  };
  const auto [earlier, last] = jacobians(split.train.all().inputs[0].to(at::kDouble));
  const at::Tensor test_last = jacobians(data.all().inputs[0].to(at::kDouble)).second;
  const at::Tensor gram = last.t().mm(last), one = at::eye(gram.size(0), at::kDouble);
  const at::Tensor a = at::linalg_solve(gram + 1e-5 * gram.trace() / last.size(0) * one,
                                        last.t().mm(earlier));  // [r, m], A^T by ridge regression
  const double noise = p.aleatoric_var[0].item<double>();
  const at::Tensor f = 0.7 * at::cat({last.mm(a), last}, 1),
                   g = 0.7 * at::cat({test_last.mm(a), test_last}, 1);
  const at::Tensor k = f.mm(f.t()) + noise * at::eye(f.size(0), at::kDouble), cross = g.mm(f.t());
  const at::Tensor dense = (g * g).sum(1) - (cross * at::linalg_solve(k, cross.t()).t()).sum(1);
  EXPECT_LT((p.epistemic_var / dense - 1).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace slimbayes
