#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <utility>

#include "benchmarks/deep_kernels.h"
#include "slimbayes/core/random.h"
#include "slimbayes/train/adamw.h"

// Times one training step of each objective and expansion (forward, objective, backward, AdamW), its parts,
// and its floor: the bare matrix products of the step (one forward, two backward) in libtorch's own GEMM.

namespace slimbayes {
namespace {

struct Step {
  DeepKernel kernel;
  NetworkSpec spec = kernel.network({{kInputs}}, 0);
  Stream stream{0};
  Parameters parameters =
      deep_kernel_parameters(kernel, spec, LikelihoodKind::gaussian, at::zeros({1}, at::kDouble), stream);
  DeepKernelModel model{kernel, spec, LikelihoodKind::gaussian, 1,
                        [this](const std::string& name) { return parameters[name]; }};
  AdamW optimiser{{{"network", parameters.values("network"), parameters.grads("network"), 1e-3, 1e-2},
                   {"head", parameters.values("head"), parameters.grads("head"), 1e-3, 0},
                   {"noise", parameters.values("noise"), parameters.grads("noise"), 1e-2, 0}}};
  at::Tensor x, y;

  Step(DeepKernel of, int64_t batch)
      : kernel(std::move(of)),
        x(stream.split("x").normal({batch, kInputs}, at::kFloat)),
        y(stream.split("y").normal(at::IntArrayRef{batch}, at::kFloat)) {}

  VariationalLoss backward() const {
    return model.backward(x, y, 15000, kernel.objective, kernel.focus.focus);
  }
};

void batches(benchmark::internal::Benchmark* b) {
  b->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);
}

void BM_step(benchmark::State& state, const DeepKernel& kernel) {
  Step step(kernel, state.range(0));
  for (auto _ : state) {
    step.optimiser.zero_grad();
    VariationalLoss loss = step.backward();
    step.optimiser.step(1);
    benchmark::DoNotOptimize(loss.total.item<float>());
  }
}
BENCHMARK_CAPTURE(BM_step, dppgp_silu, dppgp("silu"))->Apply(batches);  // dbk
BENCHMARK_CAPTURE(BM_step, dppgp_rbf, dppgp("rbf"))->Apply(batches);    // dbk --basis rbf
BENCHMARK_CAPTURE(BM_step, vbll_silu, vbll("silu"))->Apply(batches);    // vbll
BENCHMARK_CAPTURE(BM_step, vbll_rbf, vbll("rbf"))->Apply(batches);
BENCHMARK_CAPTURE(BM_step, svgp_rbf, svgp())->Apply(batches);  // sv-dkl
BENCHMARK_CAPTURE(BM_step, ppgp_rbf, ppgp())->Apply(batches);  // pp-dkl

// Times the step without the optimiser.
void BM_DeepKernelModel_backward(benchmark::State& state, const DeepKernel& kernel) {
  Step step(kernel, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(step.backward().total.item<float>());
}
BENCHMARK_CAPTURE(BM_DeepKernelModel_backward, dppgp_silu, dppgp("silu"))->Apply(batches);
BENCHMARK_CAPTURE(BM_DeepKernelModel_backward, ppgp_rbf, ppgp())->Apply(batches);

// Times backbone and basis with an autograd graph: forward alone (backward = 0), and forward with backward
// (1).
void BM_DeepKernelModel_expansion(benchmark::State& state, const std::string& basis) {
  Step step(dppgp(basis), state.range(0));
  at::Tensor grad = at::ones({state.range(0), kRank}, at::kFloat);
  for (auto _ : state) {
    at::Tensor phi = step.model.expansion(step.x).features;
    if (state.range(1)) phi.backward(grad);
    benchmark::DoNotOptimize(phi.data_ptr());
  }
}
void both_ways(benchmark::internal::Benchmark* b) {
  b->ArgNames({"batch", "backward"})->ArgsProduct({{200, 1024}, {0, 1}})->Unit(benchmark::kMicrosecond);
}
BENCHMARK_CAPTURE(BM_DeepKernelModel_expansion, silu, std::string("silu"))->Apply(both_ways);
BENCHMARK_CAPTURE(BM_DeepKernelModel_expansion, rbf, std::string("rbf"))->Apply(both_ways);

void BM_head_gradient(benchmark::State& state, const DeepKernel& kernel) {
  Step step(kernel, state.range(0));
  Expansion phi = step.model.expansion(step.x);
  at::Tensor features = phi.features.detach(), noise = step.model.noise_var().detach();
  at::Tensor correction = phi.correction.defined() ? phi.correction.detach() : at::Tensor();
  const HeadBatch batch{features, correction, step.y, 15000};
  const HeadValues head{step.model.posterior, step.model.offset, noise};
  for (auto _ : state) {
    HeadGradient g = head_gradient(batch, head, kernel.objective, kernel.focus.focus);
    benchmark::DoNotOptimize(g.grad_features.data_ptr());
  }
}
BENCHMARK_CAPTURE(BM_head_gradient, dppgp, dppgp("silu"))->Apply(batches);
BENCHMARK_CAPTURE(BM_head_gradient, vbll, vbll("silu"))->Apply(batches);
BENCHMARK_CAPTURE(BM_head_gradient, svgp, svgp())->Apply(batches);
BENCHMARK_CAPTURE(BM_head_gradient, ppgp, ppgp())->Apply(batches);

void BM_AdamW_step(benchmark::State& state) {
  Step step(dppgp("silu"), 1);
  for (auto _ : state) {
    step.optimiser.zero_grad();
    step.optimiser.step(1);
  }
}
BENCHMARK(BM_AdamW_step)->Unit(benchmark::kMicrosecond);

// Times the floor. Inducing points add one product, the solve with chol(K_ZZ), which is counted in float32
// like the others. The factorisation itself is not a product, so the floor does not contain it.
void BM_gemm_floor(benchmark::State& state, bool inducing) {
  int64_t b = state.range(0);
  // (in, out) of every product per row: the input layer, four in the blocks, the expansion, and L^T phi.
  std::vector<std::pair<int64_t, int64_t>> layers = {
      {kInputs, kHidden}, {kHidden, kHidden}, {kHidden, kHidden}, {kHidden, kHidden},
      {kHidden, kHidden}, {kHidden, kRank},   {kRank, kRank}};
  if (inducing) layers.push_back({kRank, kRank});
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
      if (i > 0) at::mm_out(p.dx, p.delta, p.w);  // inputs need no gradient
      at::mm_out(p.dw, p.delta.t(), p.x);
    }
  }
}
BENCHMARK_CAPTURE(BM_gemm_floor, dense, false)->Apply(batches);
BENCHMARK_CAPTURE(BM_gemm_floor, inducing, true)->Apply(batches);

}  // namespace
}  // namespace slimbayes
