#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <ctime>
#include <optional>
#include <string>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/ntk/enrichment.h"

// Times the layer-wise route to A^T A = Q^T K_m Q for an MLP with three layers of width 512 in float32 and
// r = 513, on one thread, against its floor: the bare matrix products of one triangle of K_m. Counters:
// gemm_share, the floor's time by the route's; GFLOP/s by the floor's operations; peak_MB, by how much the
// route raised the process's largest resident size (run one case per process, with --benchmark_filter, or
// an earlier case hides it).

namespace slimbayes {
namespace {

constexpr int64_t kInputs = 10, kWidth = 512, kLayers = 3, kFeatures = kWidth + 1, kTile = 256;

/// The processor time that the process has used: on one thread, and steadier than the clock beside other
/// work.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Products {
  double seconds, flops;
};

/// Runs the matrix products of the route on random tiles: of inputs and deltas in float32, K_ij Q_j and
/// Q_i^T (K Q)_i in float64.
Products bare_products(int64_t n) {
  const at::Tensor x = Stream(1).normal({kTile, kWidth}, at::kFloat),
                   first = x.slice(1, 0, kInputs).contiguous();
  const at::Tensor k = Stream(2).normal({kTile, kTile}), q = Stream(3).normal({kTile, kFeatures});
  const at::Tensor sum = at::zeros({kTile, kFeatures}, at::kDouble),
                   gram = at::zeros({kFeatures, kFeatures}, at::kDouble),
                   out = at::empty({kTile, kTile}, at::kFloat);
  const int64_t tiles = (n + kTile - 1) / kTile;
  double flops = 0;
  const double start = processor_seconds();
  for (int64_t i = 0; i < tiles; ++i) {
    for (int64_t j = i; j < tiles; ++j) {
      at::Tensor to = out;
      at::mm_out(to, first, first.t());
      for (int64_t product = 0; product < 2 * kLayers - 1; ++product) at::mm_out(to, x, x.t());
      sum.addmm_(k, q);
      flops += 2.0 * kTile * kTile * (kInputs + kWidth * (2 * kLayers - 1) + kFeatures);
    }
    gram.addmm_(q.t(), sum);
    flops += 2.0 * kTile * kFeatures * kFeatures;
  }
  return {processor_seconds() - start, flops};
}

/// The gradients of an MLP in float32 at random rows, and a matrix Q.
struct Problem {
  Problem(int64_t n, int64_t width, int64_t layers) : spec(mlp(kInputs, width, layers, "relu")) {
    spec.layers.push_back(Linear{1});
    parameters.emplace(network_parameters(spec, "net", "all", Stream(4)), at::kFloat);
    model = gradient_model(
        spec, "net", [this](const std::string& name) { return (*parameters)[name]; }, at::kFloat);
    const at::Tensor x = Stream(5).normal({n, kInputs}, at::kFloat);
    rows = {n, [x](int64_t from, int64_t to) { return Input(x.slice(0, from, to)); }};
    q = Stream(6).normal({n, width + 1});
  }

  /// Returns the processor seconds of a route.
  double seconds(const std::string& route) const {
    const double start = processor_seconds();
    benchmark::DoNotOptimize(enrichment(model, rows, q, {.route = route}, Stream(7)));
    return processor_seconds() - start;
  }

  NetworkSpec spec;
  std::optional<Parameters> parameters;
  GradientModel model;
  GradientRows rows;
  at::Tensor q;
};

void BM_enrichment_gram(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Problem problem(n, kWidth, kLayers);
  const double before = peak_mb();
  double seconds = 0;
  for (auto _ : state) seconds += problem.seconds("gram");
  state.counters["peak_MB"] = peak_mb() - before;
  seconds /= static_cast<double>(state.iterations());
  const Products bare = bare_products(n);
  state.counters["gemm_share"] = bare.seconds / seconds;
  state.counters["GFLOP"] = bare.flops / 1e9;
  state.counters["GFLOP/s"] = bare.flops / 1e9 / seconds;
}
BENCHMARK(BM_enrichment_gram)->ArgName("rows")->Arg(2000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_enrichment_gram)->ArgName("rows")->Arg(20000)->Iterations(1)->Unit(benchmark::kMillisecond);

/// The sums of a layer's gradients beside the other exact routes, for two layers of 100: counters gram and
/// weighted, their time by that of sums; gemm_share, the time of the products alone.
void BM_enrichment_sums(benchmark::State& state) {
  constexpr int64_t kNarrow = 100;
  const int64_t n = state.range(0), r = kNarrow + 1;
  const Problem problem(n, kNarrow, 2);
  double seconds = 0;
  for (auto _ : state) seconds += problem.seconds("sums");
  seconds /= static_cast<double>(state.iterations());
  state.counters["gram"] = problem.seconds("gram") / seconds;
  state.counters["weighted"] = problem.seconds("weighted") / seconds;
  const at::Tensor weighted = Stream(1).normal({r * kNarrow, kTile}, at::kFloat),
                   inputs = Stream(2).normal({kTile, kNarrow}, at::kFloat),
                   first = inputs.slice(1, 0, kInputs).contiguous();
  const double start = processor_seconds();
  for (int64_t from = 0; from < n; from += kTile) {
    benchmark::DoNotOptimize(weighted.mm(inputs));
    benchmark::DoNotOptimize(weighted.mm(first));
  }
  state.counters["gemm_share"] = (processor_seconds() - start) / seconds;
}
BENCHMARK(BM_enrichment_sums)->ArgName("rows")->Arg(2000)->Arg(16000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slimbayes
