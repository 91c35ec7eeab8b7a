#include "slimbayes/families/tabular.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"

namespace slimbayes {

TabularRows tabular_rows(const Batch& data, int64_t inputs, at::ScalarType type, std::string_view function) {
  check(data.inputs.size() == 1, function, "one input tensor [n, d]",
        fmt::format("{} input tensors", data.inputs.size()));
  const at::Tensor& x = data.inputs[0];
  check_shape(x, {-1, inputs}, function, "inputs");
  TabularRows rows{x.to(type), {}};
  check_finite(rows.x, function, "inputs");  // after the cast, to catch what overflows float32
  if (data.target.defined()) {
    check_shape(data.target, {x.size(0)}, function, "target");
    rows.y = data.target.to(type);
    check_finite(rows.y, function, "target");
  }
  return rows;
}

void check_task(const Task& task, std::string_view method) {
  const MethodInfo& info = find_method(method);
  if (std::ranges::find(info.tasks, task.kind) != info.tasks.end()) return;
  // Counts, and classes whose names are all numbers, can be fitted as a regression instead.
  const bool of_numbers =
      task.kind == TaskKind::counts || (task.kind == TaskKind::classification &&
                                        std::ranges::all_of(task.levels, [](const std::string& level) {
                                          return parse_number(level).has_value();
                                        }));
  check(false, method, fmt::format("a task that {} takes, {}", method, name_of(info.tasks[0])),
        fmt::format("{} ({})", name_of(task.kind), name_of(task.likelihood)),
        fmt::format("{} take it (--method){}", methods_taking(task.kind),
                    of_numbers ? "; --likelihood gaussian makes a regression of the numbers" : ""));
}

TabularRows training_rows(const Dataset& data, at::ScalarType type, std::string_view function) {
  check_task(data.schema.task, function);
  TabularRows rows = tabular_rows(data.all(), -1, type, function);
  check(rows.y.defined(), function, "training rows with a target", "none");
  check(rows.x.size(0) > 0, function, "at least one training row", "an empty dataset");
  check(rows.x.size(1) > 0, function, "at least one input", "inputs without columns");
  return rows;
}

TabularRows validation_rows(const Dataset& data, const TabularRows& train, std::string_view function) {
  if (data.size() == 0) return {};
  TabularRows rows = tabular_rows(data.all(), train.x.size(1), train.x.scalar_type(), function);
  check(rows.y.defined(), function, "validation rows with a target", "none");
  return rows;
}

const char* evidence_overfits() {
  return "no validation examples: the evidence of a network's features overfits, and nothing ended the "
         "training "
         "before it did; the sd may be far too small";
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

}  // namespace slimbayes
