#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <cmath>

#include "slimbayes/catalog/dbk_options.h"
#include "slimbayes/catalog/network_spec.h"
#include "slimbayes/core/random.h"
#include "slimbayes/methods/dbk_model.h"
#include "slimbayes/train/adamw.h"

// One training step of dbk (forward, dPPGP, backward, AdamW) at d = 26, h = 64, r = 128, and its floor: the
// bare matrix products of the same step, forward and both backward ones, in the library's own GEMM.

namespace slimbayes {
namespace {

constexpr int64_t kInputs = 26, kHidden = 64, kRank = 128;

void BM_dbk_step(benchmark::State& state) {
  at::set_num_threads(1);
  int64_t batch = state.range(0);
  DbkOptions options;
  NetworkSpec spec = tabular_resnet(kInputs, kHidden, 2);
  Stream stream(0);
  Parameters parameters = dbk_parameters(options, spec, stream);
  DbkModel model(options, spec, [&](const std::string& name) { return parameters[name]; });
  AdamW optimiser({{"backbone", parameters.values("backbone"), parameters.grads("backbone"), 1e-3, 1e-2},
                   {"head", parameters.values("head"), parameters.grads("head"), 1e-3, 0},
                   {"noise", parameters.values("noise"), parameters.grads("noise"), 1e-2, 0}});
  at::Tensor x = stream.normal({batch, kInputs}, at::kFloat);
  at::Tensor y = stream.normal(at::IntArrayRef{batch}, at::kFloat);
  for (auto _ : state) {
    optimiser.zero_grad();
    DppgpLoss loss = model.backward(x, y, 15000, options.alpha, options.beta);
    optimiser.step(1);
    benchmark::DoNotOptimize(loss.total.item<float>());
  }
}
BENCHMARK(BM_dbk_step)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

void BM_gemm_floor(benchmark::State& state) {
  at::set_num_threads(1);
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
      if (i > 0) at::mm_out(p.dx, p.delta, p.w);
      at::mm_out(p.dw, p.delta.t(), p.x);
    }
  }
}
BENCHMARK(BM_gemm_floor)->ArgName("batch")->Arg(200)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slimbayes

BENCHMARK_MAIN();
