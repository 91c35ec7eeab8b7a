#include "slimbayes/bayes/random_weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/methods/weight_space/draw_stack.h"
#include "slimbayes/methods/weight_space/low_rank/low_rank_plan.h"
#include "slimbayes/methods/weight_space/variational_fitted.h"
#include "slimbayes/train/adamw.h"

// Times networks with random weights on the MNIST network of Toure and Stephens, 784-1200-1200-10 with ranks
// 25, 25 and 10: a training step of 128 rows (draw, forward, NLL + KL, backward, AdamW) beside that of the
// deterministic network, and the prediction by 50 draws, together and draw by draw. peer_random_weights.py
// times the same steps in plain PyTorch and prints the ratios.

namespace slimbayes {
namespace {

constexpr int64_t kPixels = 784, kHidden = 1200, kClasses = 10, kBatch = 128, kDraws = 50;

NetworkSpec images_network() {
  NetworkSpec spec = mlp(kPixels, kHidden, 2, "relu");
  spec.layers.push_back(Linear{kClasses});
  return spec;
}

/// Returns the plan named "dense" (deterministic), "mean_field" or "low_rank".
WeightPlan plan_of(std::string_view kind, const NetworkLayout& layout) {
  if (kind == "dense") return {};
  LowRankOptions options;
  options.rank = 25;
  options.factored = "all";
  options.variational.random_biases = false;
  return kind == "low_rank" ? low_rank_plan(layout, options, "gaussian", "random")
                            : independent_plan(layout, options.variational);
}

/// A network with its parameters and a batch.
struct RandomNetwork {
  NetworkSpec spec = images_network();
  Network network{spec, "network"};
  RandomWeights random;
  Parameters parameters;
  WeightPosterior weights;
  Stream stream{0};

  explicit RandomNetwork(std::string_view kind)
      : random(network.layout(), plan_of(kind, network.layout())),
        parameters(random.parameters(Stream(1)), at::kFloat),
        weights(random.bound([this](const std::string& name) { return parameters[name]; })) {}

  at::Tensor rows(int64_t n) const { return stream.split("x").uniform({n, kPixels}).to(at::kFloat); }
};

void BM_variational_step(benchmark::State& state, const char* kind) {
  const RandomNetwork problem(kind);
  const bool random = std::string_view(kind) != "dense";
  const at::Tensor x = problem.rows(kBatch), y = at::arange(kBatch) % kClasses;
  std::map<std::string, GroupRate> rates = {{"network", {1e-3}}};
  if (random) rates["spread"] = {1e-3};
  AdamW optimiser(parameter_groups(problem.parameters, rates));
  uint64_t step = 0;
  for (auto _ : state) {
    optimiser.zero_grad();
    const WeightDraw draw = problem.weights.draw(problem.stream.split("step").split(++step));
    at::Tensor loss = at::nll_loss(at::log_softmax(problem.network(x, draw.binding), -1), y);
    if (random) loss = loss + problem.weights.kl(draw) / 60000;
    loss.backward();
    optimiser.step(1);
    benchmark::DoNotOptimize(loss.item<float>());
  }
}
BENCHMARK_CAPTURE(BM_variational_step, dense, "dense")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_variational_step, mean_field, "mean_field")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_variational_step, low_rank, "low_rank")->Unit(benchmark::kMillisecond);

/// Draw by draw, with a new draw of the weights for every pass.
void BM_draws_apart(benchmark::State& state, const char* kind) {
  const RandomNetwork problem(kind);
  at::NoGradGuard no_grad;
  const Input rows{problem.rows(state.range(0))};
  const WeightDraws draws = draws_of(problem.network, problem.weights, problem.spec.input, kDraws);
  for (auto _ : state)
    for (int64_t s = 0; s < kDraws; ++s) benchmark::DoNotOptimize(draws.network(s)(rows));
}

/// All draws in one pass, made at the first call.
void BM_draws_together(benchmark::State& state, const char* kind) {
  const RandomNetwork problem(kind);
  at::NoGradGuard no_grad;
  const Input rows{problem.rows(state.range(0))};
  const DrawStack together(problem.network, problem.weights, kDraws);
  benchmark::DoNotOptimize(together(rows));
  for (auto _ : state) benchmark::DoNotOptimize(together(rows));
}

void rows_of(benchmark::internal::Benchmark* b) {
  b->ArgName("rows")->Arg(1)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_draws_apart, low_rank, "low_rank")->Apply(rows_of);
BENCHMARK_CAPTURE(BM_draws_together, low_rank, "low_rank")->Apply(rows_of);
BENCHMARK_CAPTURE(BM_draws_apart, mean_field, "mean_field")->Apply(rows_of);
BENCHMARK_CAPTURE(BM_draws_together, mean_field, "mean_field")->Apply(rows_of);

}  // namespace
}  // namespace slimbayes
