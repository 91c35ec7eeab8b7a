#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/core/likelihood.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/families/method.h"

namespace slimbayes {

/// A dataset of one input tensor and one target, checked.
struct TabularRows {
  at::Tensor x;  // [n, d]
  at::Tensor y;  // [n]; undefined when the dataset has none
};

/// Throws std::invalid_argument unless the inputs are [n, d] and finite, and the target, where given, [n] and
/// finite. `inputs` is the expected d, -1 for any.
TabularRows tabular_rows(const Batch& data, int64_t inputs, at::ScalarType type, std::string_view function);

/// Throws std::invalid_argument unless the catalogue says that the method takes this task; names those that
/// do.
void check_task(const Task& task, std::string_view method);

/// The rows that a method trains on: as tabular_rows, at least one row, with a target.
TabularRows training_rows(const Dataset& data, at::ScalarType type, std::string_view function);

/// Validation rows beside training rows: the same inputs, with a target; both tensors undefined when there
/// are none.
TabularRows validation_rows(const Dataset& data, const TabularRows& train, std::string_view function);

/// The note of a network that was trained on the evidence without validation rows.
const char* evidence_overfits();

/// Mean over the rows of a per-row loss [b], without gradients, a few thousand rows at a time.
double mean_over_rows(const TabularRows& rows,
                      const std::function<at::Tensor(const at::Tensor& x, const at::Tensor& y)>& loss);

}  // namespace slimbayes
