#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/train/adamw.h"

// Times an LSTM by the engine and by libtorch: a training step (forward, squared error, backward, AdamW) of
// windows of `steps` rows of 8 columns with 64 units, and a prediction. The floor counts the products of all
// steps, at the speed of one large product.

namespace slimbayes {
namespace {

constexpr int64_t kColumns = 8, kUnits = 64;

struct Windows {
  NetworkSpec spec;
  Parameters parameters;
  BoundNetwork network;
  at::Tensor x, y;

  static NetworkSpec made(int64_t steps) {
    NetworkSpec spec = network_for({.network = "lstm", .hidden = kUnits, .blocks = 1}, {{steps, kColumns}});
    spec.layers.push_back(Linear{1});
    return spec;
  }
  Windows(int64_t batch, int64_t steps, Execution by)
      : spec(made(steps)),
        parameters(network_parameters(spec, "network", "network", Stream(1)), at::kFloat),
        network(
            spec, "network", [this](const std::string& name) { return parameters[name]; }, by),
        x(Stream(2).normal({batch, steps, kColumns}, at::kFloat)),
        y(Stream(3).normal({batch, 1}, at::kFloat)) {}
};

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"batch", "steps"})
      ->Args({64, 24})
      ->Args({200, 24})
      ->Args({200, 96})
      ->Unit(benchmark::kMicrosecond);
}

void BM_lstm_step(benchmark::State& state, Execution by) {
  const Windows w(state.range(0), state.range(1), by);
  AdamW optimiser(parameter_groups(w.parameters, {{"network", {1e-3, 1e-2}}}));
  for (auto _ : state) {
    optimiser.zero_grad();
    const at::Tensor out = w.network(w.x, {true});
    out.backward((out.detach() - w.y) / static_cast<double>(w.y.size(0)));
    optimiser.step(1);
    benchmark::DoNotOptimize(out.const_data_ptr());
  }
}
BENCHMARK_CAPTURE(BM_lstm_step, engine, Execution::engine)->Apply(sizes);
BENCHMARK_CAPTURE(BM_lstm_step, libtorch, Execution::libtorch)->Apply(sizes);

void BM_lstm_prediction(benchmark::State& state, Execution by) {
  const Windows w(state.range(0), state.range(1), by);
  at::NoGradGuard no_grad;
  for (auto _ : state) benchmark::DoNotOptimize(w.network(w.x).const_data_ptr());
}
BENCHMARK_CAPTURE(BM_lstm_prediction, engine, Execution::engine)->Apply(sizes);
BENCHMARK_CAPTURE(BM_lstm_prediction, libtorch, Execution::libtorch)->Apply(sizes);

/// One product with as many operations as those of all steps: one forward and two backward, but for the
/// gradient of the windows.
void BM_lstm_products(benchmark::State& state) {
  const int64_t rows = state.range(0) * state.range(1);
  const auto f32 = at::TensorOptions().dtype(at::kFloat);
  const at::Tensor x = at::ones({rows, kColumns + kUnits}, f32),
                   w = at::ones({kColumns + kUnits, 4 * kUnits}, f32), g = at::ones({rows, 4 * kUnits}, f32),
                   hidden = w.narrow(0, kColumns, kUnits).t();
  at::Tensor gates = at::empty_like(g), dw = at::empty_like(w), dx = at::empty({rows, kUnits}, f32);
  for (auto _ : state) {
    at::mm_out(gates, x, w);
    at::mm_out(dw, x.t(), g);
    at::mm_out(dx, g, hidden);
    benchmark::DoNotOptimize(dx.data_ptr());
  }
}
BENCHMARK(BM_lstm_products)->Apply(sizes);

}  // namespace
}  // namespace slimbayes
