#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <utility>

#include "benchmarks/sizes.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/random.h"

// Times the exact posterior (accumulating batches, factorising, adding rows) beside its floor, the bare
// float64 matrix products.

namespace slimbayes {
namespace {

LinearRows gaussian_rows(int64_t b, at::ScalarType type) {
  return {Stream(0).split("phi").normal({b, kRank}, type), Stream(0).split("y").normal({b}, type), {}};
}

void BM_linear_statistics_added(benchmark::State& state) {
  LinearRows rows = gaussian_rows(state.range(0), state.range(1) ? at::kDouble : at::kFloat);
  LinearStatistics s = linear_statistics(kRank);
  for (auto _ : state) s = added(s, rows);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_linear_statistics_added)
    ->ArgNames({"batch", "float64"})
    ->ArgsProduct({{200, 1024, 10000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// Times Phi^T Phi alone.
void BM_gram_floor(benchmark::State& state) {
  at::Tensor phi = gaussian_rows(state.range(0), at::kDouble).features;
  at::Tensor gram = at::empty({kRank, kRank}, at::kDouble);
  for (auto _ : state) at::mm_out(gram, phi.t(), phi);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_gram_floor)->ArgName("batch")->Arg(200)->Arg(1024)->Arg(10000)->Unit(benchmark::kMicrosecond);

void BM_linear_posterior(benchmark::State& state) {
  LinearStatistics s = added(linear_statistics(kRank), gaussian_rows(1024, at::kDouble));
  for (auto _ : state) benchmark::DoNotOptimize(linear_posterior(s, {0.1, {}, true}));
}
BENCHMARK(BM_linear_posterior)->Unit(benchmark::kMicrosecond);

void BM_linear_posterior_added(benchmark::State& state) {
  LinearStatistics s = added(linear_statistics(kRank), gaussian_rows(1024, at::kDouble));
  LinearPosterior p = linear_posterior(s, {0.1, {}});
  LinearRows rows = gaussian_rows(state.range(0), at::kDouble);
  for (auto _ : state) benchmark::DoNotOptimize(added(p, rows));
}
BENCHMARK(BM_linear_posterior_added)
    ->ArgName("batch")
    ->Arg(1)
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMicrosecond);

// rich-bll's posterior of 512 features with a dense prior factor: 32 rows added, to a posterior that is kept
// or in place to one that is given away, beside the posterior of 10,000 rows computed anew.
constexpr int64_t kWide = 512;

LinearRows wide_rows(int64_t b) {
  return {Stream(0).split("phi").normal({b, kWide}), Stream(0).split("y").normal({b}), {}};
}

LinearModel wide_model() {
  return {0.1, at::eye(kWide, at::kDouble) + 0.1 * Stream(1).normal({kWide, kWide}).tril(), false};
}

void BM_wide_posterior_added(benchmark::State& state) {
  const LinearPosterior p = linear_posterior(added(linear_statistics(kWide), wide_rows(10000)), wide_model());
  const LinearRows rows = wide_rows(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(added(p, rows));
}
BENCHMARK(BM_wide_posterior_added)->ArgName("batch")->Arg(1)->Arg(32)->Unit(benchmark::kMillisecond);

void BM_wide_posterior_added_in_place(benchmark::State& state) {
  LinearPosterior p = linear_posterior(added(linear_statistics(kWide), wide_rows(10000)), wide_model());
  const LinearRows rows = wide_rows(state.range(0));
  for (auto _ : state) p = added(std::move(p), rows);
}
BENCHMARK(BM_wide_posterior_added_in_place)->ArgName("batch")->Arg(1)->Arg(32)->Unit(benchmark::kMillisecond);

void BM_wide_posterior_anew(benchmark::State& state) {
  const LinearRows rows = wide_rows(10000);
  const LinearModel model = wide_model();
  for (auto _ : state)
    benchmark::DoNotOptimize(linear_posterior(added(linear_statistics(kWide), rows), model));
}
BENCHMARK(BM_wide_posterior_anew)->Unit(benchmark::kMillisecond);

// Times the factorisation alone.
void BM_cholesky_floor(benchmark::State& state) {
  at::Tensor phi = gaussian_rows(1024, at::kDouble).features;
  at::Tensor h = at::mm(phi.t(), phi) + at::eye(kRank, at::kDouble);
  for (auto _ : state) benchmark::DoNotOptimize(at::linalg_cholesky(h));
}
BENCHMARK(BM_cholesky_floor)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slimbayes
