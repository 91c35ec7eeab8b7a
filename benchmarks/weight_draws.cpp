#include <ATen/ATen.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks/sizes.h"
#include "slimbayes/method/registry.h"

// Times the prediction of the methods that average draws of a network: 512 draws of a small network over
// 10,000 rows. The floor is one pass of the network (BM_one_network) times the draws.

namespace slimbayes {
namespace {

constexpr int64_t kRows = 10000, kWidth = 64;

Dataset draw_rows(int64_t n, const Stream& stream) {
  Schema schema;
  for (int64_t i = 0; i < kInputs; ++i) schema.features.push_back(fmt::format("x{}", i));
  return dataset_of(schema, {{stream.split("x").normal({n, kInputs})}, stream.split("y").normal({n})});
}

std::unique_ptr<Fitted> fitted_briefly(const char* method, nlohmann::json options) {
  options["steps"] = 10;
  options["hidden"] = kWidth;
  return registry_row(method).make(options)->fit({draw_rows(512, Stream(0)), {}}, FitContext{});
}

void BM_one_network(benchmark::State& state) {
  const auto fitted = fitted_briefly("dnn", nlohmann::json::object());
  const Dataset rows = draw_rows(kRows, Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(fitted->predict(rows));
}
BENCHMARK(BM_one_network)->Unit(benchmark::kMillisecond);

void BM_weight_draws(benchmark::State& state, const char* method) {
  nlohmann::json options = {{"draws", state.range(0)}};
  if (std::string(method) == "mc-dropout") options["dropout"] = 0.1;
  const auto fitted = fitted_briefly(method, options);
  const Dataset rows = draw_rows(kRows, Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(fitted->predict(rows));
}
BENCHMARK_CAPTURE(BM_weight_draws, bbb, "bbb")
    ->ArgName("draws")
    ->Arg(8)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_weight_draws, mc_dropout, "mc-dropout")
    ->ArgName("draws")
    ->Arg(8)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_weight_draws, swag, "swag")
    ->ArgName("draws")
    ->Arg(8)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slimbayes
