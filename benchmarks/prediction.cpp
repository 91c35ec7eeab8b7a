#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks/deep_kernels.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/row_predictor.h"
#include "slimbayes/nn/weights.h"

// Times the prediction (mean and variance) of new rows by a fitted dbk, from a Dataset and from a Table, and
// its floor, the bare matrix products; and by bll and rich-bll around one network.

namespace slimbayes {
namespace {

constexpr int64_t kTrainingRows = 512;

// Returns options with few steps: the time of a prediction does not depend on the quality of the fit.
nlohmann::json briefly() { return {{"steps", 10}, {"hidden", kHidden}, {"rank", kRank}}; }

Dataset gaussian_rows(int64_t n, const Stream& stream) {
  Schema schema;
  for (int64_t i = 0; i < kInputs; ++i) schema.features.push_back(fmt::format("x{}", i));
  return dataset_of(schema, {{stream.split("x").normal({n, kInputs})}, stream.split("y").normal({n})});
}

Table gaussian_table(int64_t n, const Stream& stream) {
  Table table{"gaussian", {}, n};
  for (int64_t i = 0; i <= kInputs; ++i) {
    Column column;
    column.name = i < kInputs ? fmt::format("x{}", i) : "y";
    Stream own = stream.split(static_cast<uint64_t>(i));
    for (int64_t row = 0; row < n; ++row) column.values.push_back(own.normal(static_cast<uint64_t>(row)));
    table.columns.push_back(std::move(column));
  }
  return table;
}

void BM_Fitted_predict(benchmark::State& state) {
  auto fitted =
      registry_row("dbk").make(briefly())->fit({gaussian_rows(kTrainingRows, Stream(0)), {}}, FitContext{});
  Dataset rows = gaussian_rows(state.range(0), Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(fitted->predict(rows));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Fitted_predict)->ArgName("rows")->Arg(1)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void BM_Model_predict(benchmark::State& state) {
  Model model = fit_model(gaussian_table(kTrainingRows, Stream(0)), {.target = "y", .options = briefly()});
  Table rows = gaussian_table(state.range(0), Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(model.predict(rows));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Model_predict)->ArgName("rows")->Arg(1)->Arg(10000)->Unit(benchmark::kMicrosecond);

// rich-bll answers with as many features as bll, so it should cost the same. Compare the two as
//   --benchmark_filter=last_layer --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true
void BM_last_layer_predict(benchmark::State& state, const char* method) {
  constexpr int64_t kWidth = 512;
  const nlohmann::json network = {{"steps", 10}, {"hidden", kWidth}};
  const Split rows{gaussian_rows(kTrainingRows, Stream(0)), gaussian_rows(64, Stream(2))};
  static const auto one = registry_row("dnn").make(network)->fit(rows, FitContext{})->network();
  FitContext context;
  context.start = one;
  const auto fitted = registry_row(method).make(network)->fit(rows, context);
  const Dataset fresh = gaussian_rows(state.range(0), Stream(1));
  for (auto _ : state) benchmark::DoNotOptimize(fitted->predict(fresh));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(BM_last_layer_predict, bll, "bll")
    ->ArgName("rows")
    ->Arg(1)
    ->Arg(1024)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_last_layer_predict, rich_bll, "rich-bll")
    ->ArgName("rows")
    ->Arg(1)
    ->Arg(1024)
    ->Unit(benchmark::kMicrosecond);

Model fitted_model(const char* method) {
  nlohmann::json options = {{"steps", 10}, {"hidden", kHidden}};
  if (std::string(method) == "ridge") options = nlohmann::json::object();
  if (std::string(method) == "dbk" || std::string(method) == "vbll") options["rank"] = kRank;
  return fit_model(gaussian_table(kTrainingRows, Stream(0)),
                   {.target = "y", .method = method, .options = options});
}

// A row with its variance through RowPredictor: encoded, from raw columns, and with its interval.
void BM_RowPredictor(benchmark::State& state, const char* method, int part) {
  const Model model = fitted_model(method);
  RowPredictor rows(model);
  const std::vector<double> cells(static_cast<size_t>(kInputs), 0.3);
  const std::vector<float> x(static_cast<size_t>(rows.inputs()), 0.3F);
  for (auto _ : state) {
    benchmark::DoNotOptimize(part == 0 ? rows.encoded(x) : rows(cells));
    if (part == 2) benchmark::DoNotOptimize(rows.interval(0.95));
  }
}
#define SLIMBAYES_ROW_PREDICTOR(name, method)                    \
  BENCHMARK_CAPTURE(BM_RowPredictor, name##_encoded, method, 0); \
  BENCHMARK_CAPTURE(BM_RowPredictor, name##_raw, method, 1);     \
  BENCHMARK_CAPTURE(BM_RowPredictor, name##_interval, method, 2)
SLIMBAYES_ROW_PREDICTOR(dbk, "dbk");
SLIMBAYES_ROW_PREDICTOR(vbll, "vbll");
SLIMBAYES_ROW_PREDICTOR(dnn, "dnn");
SLIMBAYES_ROW_PREDICTOR(bll, "bll");
SLIMBAYES_ROW_PREDICTOR(rich_bll, "rich-bll");
SLIMBAYES_ROW_PREDICTOR(ridge, "ridge");

// Times backbone and basis alone, without checks and without the head.
void BM_DeepKernelModel_expansion_f64(benchmark::State& state) {
  at::NoGradGuard no_grad;
  DeepKernel kernel = dppgp("silu");
  NetworkSpec spec = kernel.network({{kInputs}}, 0);
  Parameters parameters =
      deep_kernel_parameters(kernel, spec, LikelihoodKind::gaussian, at::zeros({1}, at::kDouble), Stream(0));
  DeepKernelModel model(kernel, spec, LikelihoodKind::gaussian, 1,
                        [&](const std::string& name) { return parameters[name].to(at::kDouble); });
  at::Tensor x = Stream(1).normal({state.range(0), kInputs});
  for (auto _ : state) benchmark::DoNotOptimize(model.expansion(x).features.data_ptr());
}
BENCHMARK(BM_DeepKernelModel_expansion_f64)
    ->ArgName("rows")
    ->Arg(1)
    ->Arg(10000)
    ->Unit(benchmark::kMicrosecond);

// The floor in the precisions of a prediction: the network in float32, phi L in float64.
void BM_predict_floor(benchmark::State& state) {
  const std::pair<int64_t, int64_t> layers[] = {{kInputs, kHidden}, {kHidden, kHidden}, {kHidden, kHidden},
                                                {kHidden, kHidden}, {kHidden, kHidden}, {kHidden, kRank},
                                                {kRank, kRank}};
  int64_t batch = std::min(state.range(0), PredictOptions().batch);
  std::vector<std::array<at::Tensor, 3>> products;  // y, x, w
  for (auto [in, out] : layers) {
    const auto type = in == kRank ? at::kDouble : at::kFloat;
    products.push_back(
        {at::empty({batch, out}, type), at::ones({batch, in}, type), at::ones({in, out}, type)});
  }
  for (auto _ : state) {
    for (int64_t low = 0; low < state.range(0); low += batch) {
      int64_t size = std::min(batch, state.range(0) - low);
      for (auto& [y, x, w] : products) {
        at::Tensor part = y.narrow(0, 0, size);
        at::mm_out(part, x.narrow(0, 0, size), w);
      }
    }
  }
}
BENCHMARK(BM_predict_floor)->ArgName("rows")->Arg(1)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slimbayes
