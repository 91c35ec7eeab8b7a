#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <utility>

#include "benchmarks/sizes.h"
#include "slimbayes/catalog/dbk_options.h"
#include "slimbayes/catalog/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/methods/dbk_model.h"
#include "slimbayes/train/adamw.h"

// One training step of dbk (forward, dPPGP, backward, AdamW), its parts, and its floor: the bare matrix
// products of the same step, forward and both backward ones, in the library's own GEMM.

namespace slimbayes {
namespace {

struct Step {
  DbkOptions options;
  NetworkSpec spec = tabular_resnet(kInputs, kHidden, 2);
  Stream stream{0};
  Parameters parameters = dbk_parameters(options, spec, stream);
  DbkModel model{options, spec, [this](const std::string& name) { return parameters[name]; }};
  AdamW optimiser{{{"backbone", parameters.values("backbone"), parameters.grads("backbone"), 1e-3, 1e-2},
                   {"head", parameters.values("head"), parameters.grads("head"), 1e-3, 0},
                   {"noise", parameters.values("noise"), parameters.grads("noise"), 1e-2, 0}}};
  at::Tensor x, y;

  explicit Step(int64_t batch)
      : x(stream.split("x").normal({batch, kInputs}, at::kFloat)),
        y(stream.split("y").normal(at::IntArrayRef{batch}, at::kFloat)) {}

  DppgpLoss backward() const {
    return model.backward(x, y, 15000, options.alpha, options.beta, options.focus);
  }
};

void BM_dbk_step(benchmark::State& state) {
  Step step(state.range(0));
  for (auto _ : state) {
    step.optimiser.zero_grad();
    DppgpLoss loss = step.backward();
    step.optimiser.step(1);
    benchmark::DoNotOptimize(loss.total.item<float>());
  }
}
BENCHMARK(BM_dbk_step)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

// The step without its optimiser.
void BM_DbkModel_backward(benchmark::State& state) {
  Step step(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(step.backward().total.item<float>());
}
BENCHMARK(BM_DbkModel_backward)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

// Backbone and basis, forward with a graph, then forward and backward: what autograd adds.
void BM_DbkModel_features(benchmark::State& state) {
  Step step(state.range(0));
  at::Tensor grad = at::ones({state.range(0), kRank}, at::kFloat);
  for (auto _ : state) {
    at::Tensor phi = step.model.features(step.x);
    if (state.range(1)) phi.backward(grad);
    benchmark::DoNotOptimize(phi.data_ptr());
  }
}
BENCHMARK(BM_DbkModel_features)
    ->ArgNames({"batch", "backward"})
    ->ArgsProduct({{200, 1024}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void BM_dppgp_gradient(benchmark::State& state) {
  Step step(state.range(0));
  at::Tensor phi = step.model.features(step.x).detach(), noise = step.model.noise_var().detach();
  for (auto _ : state) {
    DppgpGradient g = dppgp_gradient(phi, step.y, step.model.posterior, step.model.offset, noise, 15000,
                                     step.options.alpha, step.options.beta);
    benchmark::DoNotOptimize(g.grad_features.data_ptr());
  }
}
BENCHMARK(BM_dppgp_gradient)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

void BM_AdamW_step(benchmark::State& state) {
  Step step(1);
  for (auto _ : state) {
    step.optimiser.zero_grad();
    step.optimiser.step(1);
  }
}
BENCHMARK(BM_AdamW_step)->Unit(benchmark::kMicrosecond);

void BM_gemm_floor(benchmark::State& state) {
  int64_t b = state.range(0);
  // (in, out) of every product of a row: input, four in the blocks, expansion, L^T phi.
  const std::pair<int64_t, int64_t> layers[] = {{kInputs, kHidden}, {kHidden, kHidden}, {kHidden, kHidden},
                                                {kHidden, kHidden}, {kHidden, kHidden}, {kHidden, kRank},
                                                {kRank, kRank}};
  struct Product {
    at::Tensor x, w, delta, y, dx, dw;
  };
  std::vector<Product> products;
  for (auto [in, out] : layers) {
    auto f32 = at::TensorOptions().dtype(at::kFloat);
    products.push_back({at::ones({b, in}, f32), at::ones({out, in}, f32), at::ones({b, out}, f32),
                        at::empty({b, out}, f32), at::empty({b, in}, f32), at::empty({out, in}, f32)});
  }
  for (auto _ : state) {
    for (Product& p : products) at::mm_out(p.y, p.x, p.w.t());
    for (size_t i = products.size(); i-- > 0;) {
      Product& p = products[i];
      if (i > 0) at::mm_out(p.dx, p.delta, p.w);  // the inputs need no gradient
      at::mm_out(p.dw, p.delta.t(), p.x);
    }
  }
}
BENCHMARK(BM_gemm_floor)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slimbayes
