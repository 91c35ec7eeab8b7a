#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "slimbayes/bayes/random_weights.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/train/adamw.h"

// Times a training step of one convolution whose matrix is drawn from 128 x 128 inducing weights, beside that
// of the deterministic layer: a draw, the pass forward and back, the KL and AdamW. The layer is that of the
// last stage of ResNet-18 on images of 32 x 32: 512 channels, 3 x 3, on maps of 4 x 4.

namespace slimbayes {
namespace {

constexpr int64_t kChannels = 512, kSide = 4, kInducing = 128;

/// Returns the plan named "dense" (deterministic), or "matheron", "reparam" or "flow" of inducing weights.
WeightPlan plan_of(std::string_view kind, const NetworkLayout& layout) {
  if (kind == "dense") return {};
  SitePlan site{.structure = "inducing", .prior = NormalPrior{1.0 / 68}};  // 1 / sqrt(512 * 9)
  site.inducing.rows = site.inducing.columns = kInducing;
  if (kind == "reparam") site.inducing.conditional = "reparam";
  if (kind == "flow") site.inducing.flow = "certified";
  return plan_for_all(layout, site);
}

void BM_inducing_step(benchmark::State& state, const char* kind) {
  const NetworkSpec spec{{{kChannels, kSide, kSide}}, {Conv2d{.out = kChannels, .bias = false}}};
  const Network network(spec, "network");
  const RandomWeights random(network.layout(), plan_of(kind, network.layout()));
  const Parameters parameters(random.parameters(Stream(1)), at::kFloat);
  const WeightPosterior weights = random.bound([&](const std::string& name) { return parameters[name]; });
  const bool inducing = std::string_view(kind) != "dense";
  std::map<std::string, GroupRate> rates = {{"network", {1e-3}}};
  if (inducing) rates["spread"] = {1e-3};
  AdamW optimiser(parameter_groups(parameters, rates));
  // A layer inside a network passes a gradient to its input.
  const at::Tensor x = Stream(2).normal_float32({state.range(0), kChannels, kSide, kSide}).requires_grad_();
  uint64_t step = 0;
  for (auto _ : state) {
    optimiser.zero_grad();
    const WeightDraw draw = weights.draw(Stream(3).split(++step));
    at::Tensor loss = network(x, draw.binding).square().mean();
    if (inducing) loss = loss + weights.kl(draw) / 50000;
    loss.backward();
    optimiser.step(1);
    benchmark::DoNotOptimize(loss.item<float>());
  }
}

void batches(benchmark::internal::Benchmark* b) {
  b->ArgName("batch")->Arg(32)->Arg(128)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_inducing_step, dense, "dense")->Apply(batches);
BENCHMARK_CAPTURE(BM_inducing_step, matheron, "matheron")->Apply(batches);
BENCHMARK_CAPTURE(BM_inducing_step, reparam, "reparam")->Apply(batches);
BENCHMARK_CAPTURE(BM_inducing_step, flow, "flow")->Apply(batches);

}  // namespace
}  // namespace slimbayes
