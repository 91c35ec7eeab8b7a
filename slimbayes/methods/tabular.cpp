#include "slimbayes/methods/tabular.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

TabularRows tabular_rows(const Batch& data, int64_t inputs, at::ScalarType type, std::string_view function) {
  check(data.inputs.size() == 1, function, "one input tensor [n, d]",
        fmt::format("{} input tensors", data.inputs.size()));
  const at::Tensor& x = data.inputs[0];
  check_shape(x, {-1, inputs}, function, "inputs");
  TabularRows rows{x.to(type), {}};
  check_finite(rows.x, function, "inputs");  // after the cast: what overflows float32 is caught here
  if (data.target.defined()) {
    check_shape(data.target, {x.size(0)}, function, "target");
    rows.y = data.target.to(type);
    check_finite(rows.y, function, "target");
  }
  return rows;
}

TabularRows training_rows(const Dataset& data, at::ScalarType type, std::string_view function) {
  TabularRows rows = tabular_rows(data.all, -1, type, function);
  check(rows.y.defined(), function, "training rows with a target", "none");
  check(rows.x.size(0) > 0, function, "at least one training row", "an empty dataset");
  check(rows.x.size(1) > 0, function, "at least one input", "inputs without columns");
  return rows;
}

TabularRows validation_rows(const Dataset& data, const TabularRows& train, std::string_view function) {
  if (data.size() == 0) return {};
  TabularRows rows = tabular_rows(data.all, train.x.size(1), train.x.scalar_type(), function);
  check(rows.y.defined(), function, "validation rows with a target", "none");
  return rows;
}

double mean_over_rows(const TabularRows& rows,
                      const std::function<at::Tensor(const at::Tensor& x, const at::Tensor& y)>& loss) {
  at::NoGradGuard no_grad;
  constexpr int64_t kBatch = 4096;
  double sum = 0;
  for (int64_t low = 0; low < rows.x.size(0); low += kBatch) {
    int64_t size = std::min(kBatch, rows.x.size(0) - low);
    sum += loss(rows.x.narrow(0, low, size), rows.y.narrow(0, low, size)).sum(at::kDouble).item<double>();
  }
  return sum / static_cast<double>(rows.x.size(0));
}

Regression predict_rows(const Dataset& data, int64_t inputs, const PredictOptions& options,
                        std::string_view function,
                        const std::function<Regression(const at::Tensor& x)>& answer) {
  at::NoGradGuard no_grad;
  at::Tensor x = tabular_rows({data.all.inputs, {}}, inputs, at::kDouble, function).x;
  check(options.batch > 0, function, "a batch of at least one row", std::to_string(options.batch));
  if (x.size(0) <= options.batch) return answer(x);
  std::vector<Regression> parts;
  for (const at::Tensor& part : x.split(options.batch)) parts.push_back(answer(part));
  return concatenated(parts);
}

}  // namespace slimbayes
