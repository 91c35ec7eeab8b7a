// Uses your own tensors instead of a table: a Dataset, a method of the registry, its predictive distribution.
// Compile with examples/CMakeLists.txt; run without arguments.
#include <ATen/ATen.h>
#include <slimbayes/slimbayes.h>

#include <cstdio>
#include <exception>
#include <variant>

namespace sb = slimbayes;

namespace {

/// Returns y = sin 3x + noise that grows with x. `noise` holds standard normal draws, or zeros for the mean.
at::Tensor target(const at::Tensor& x, const at::Tensor& noise) {  // [n, 1], [n] -> [n]
  const at::Tensor flat = x.squeeze(1);
  return at::sin(3 * flat) + 0.2 * (1 + flat) * noise;
}

/// Returns a Dataset. Methods expect inputs of about unit size and standardised targets; the task keeps the
/// shift and scale that lead back to the units of y.
sb::Dataset dataset(const at::Tensor& x, const at::Tensor& y, double shift, double scale) {
  sb::Task task;  // its default kind is regression
  task.y_shift = shift;
  task.y_scale = scale;
  return sb::dataset_of({task, {"x"}}, {{x}, (y - shift) / scale});
}

void run() {
  const sb::Stream stream(7);
  const int64_t n = 1200;
  const at::Tensor x = 2 * stream.split("x").uniform({n, 1}) - 1;     // [n, 1]
  const at::Tensor y = target(x, stream.split("noise").normal({n}));  // [n]
  const double shift = y.mean().item<double>(), scale = y.std().item<double>();
  const sb::Dataset all = dataset(x, y, shift, scale);
  const at::Tensor order = stream.split("split").permutation(n);
  const sb::Split split = {all.subset(order.slice(0, 0, 900)), all.subset(order.slice(0, 900, 1050))};

  const auto method = sb::registry_row("dbk").make({{"steps", 3000}, {"rank", 32}});
  const auto fitted = method->fit(split, {stream.split("fit")});
  std::printf("%s\n", fitted->summary().brief().c_str());

  const sb::Dataset test = all.subset(order.slice(0, 1050));
  const auto answer = std::get<sb::Regression>(fitted->predict(test));
  const sb::Regression p = sb::rescaled(answer, shift, scale);  // in the units of y
  const at::Tensor truth = test.all().target * scale + shift;
  std::printf("%lld test rows: rmse %.3f, nll %.3f, 95 %% interval holds %.1f %%\n",
              static_cast<long long>(test.size()), sb::root_mean_squared_error(p, truth),
              sb::regression_nll(p, truth), 100 * sb::coverage(p, truth, 0.95));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
