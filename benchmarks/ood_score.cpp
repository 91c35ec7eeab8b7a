#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/methods/weight_space/inducing/gradient_projection.h"
#include "slimbayes/methods/weight_space/inducing/inducing_plan.h"

// Times the out-of-distribution score of a classifier with inducing weights (residual, gradient_norm, energy)
// beside the forward and backward pass of a training step on the same rows: with the mean weights held fixed
// (deterministic), and with a draw given the inducing weights. The networks are the tool's convnet and the
// paper's ResNet-18 on images of 32 x 32, in batches of 32 rows.

namespace slimbayes {
namespace {

constexpr int64_t kRows = 32, kClasses = 10;

struct Classifier {
  NetworkSpec spec;
  Network network;
  RandomWeights random;
  Parameters parameters;
  WeightPosterior weights;
  Head head{LikelihoodKind::softmax, kClasses};

  explicit Classifier(const char* name)
      : spec(spec_of(name)),
        network(spec, "network"),
        random(network.layout(), inducing_plan(network.layout(), FidGpOptions(), "matheron")),
        parameters(random.parameters(Stream(1)), at::kFloat),
        weights(random.bound([this](const std::string& one) { return parameters[one]; })) {}

  static NetworkSpec spec_of(const char* name) {
    NetworkSpec spec = network_for({.network = name, .hidden = 64}, Shape{{3, 32, 32}});
    spec.layers.push_back(Linear{kClasses});
    return spec;
  }
  Dataset rows(int64_t n) const {
    return class_data(Stream(2).normal({n, 3, 32, 32}, at::kFloat), at::zeros({n}, at::kLong), kClasses);
  }
};

void BM_forward_backward(benchmark::State& state, const char* name, bool drawn) {
  const Classifier c(name);
  const Dataset rows = c.rows(kRows);
  const at::Tensor x = rows.all().inputs[0], y = rows.all().target;
  // The leaves of the deterministic pass are the matrices themselves.
  Binding fixed = c.weights.mean();
  for (LinearMap& map : fixed.maps) map = DenseMap{dense(map).detach().set_requires_grad(true)};
  for (at::Tensor& tensor : fixed.tensors)
    if (tensor.defined()) tensor = tensor.detach().set_requires_grad(tensor.requires_grad());
  uint64_t step = 0;
  for (auto _ : state) {
    const Binding binding = drawn ? c.weights.draw(Stream(3).split(++step)).binding : fixed;
    const at::Tensor loss = c.head.loss(c.network(x, binding, {true, Stream(4)}), y).mean();
    loss.backward();
    benchmark::DoNotOptimize(loss.item<float>());
  }
}

void BM_ood_score(benchmark::State& state, const char* name) {
  const Classifier c(name);
  const WeightPlan plan = c.random.plan();
  const auto sites = key_sites(c.spec, c.network.layout(), plan, {"auto"});
  const Weights stored =
      projection_statistics({c.network, c.weights, c.head, c.spec}, sites, c.rows(64), Stream(3));
  const Dataset rows = c.rows(kRows);
  for (auto _ : state) {
    const Scores scores = projection_scores({c.network, c.weights, c.head, c.spec}, stored, rows);
    benchmark::DoNotOptimize(scores.at("residual").sum().item<double>());
  }
}

BENCHMARK_CAPTURE(BM_forward_backward, convnet, "convnet", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_forward_backward, convnet_drawn, "convnet", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ood_score, convnet, "convnet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_forward_backward, resnet18, "resnet18", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_forward_backward, resnet18_drawn, "resnet18", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ood_score, resnet18, "resnet18")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slimbayes
