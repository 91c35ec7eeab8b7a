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

/// Checks the inputs and the target and converts them to `type`. Throws std::invalid_argument unless the
/// inputs are [n, d] and finite, and the target, if there is one, is [n] and finite. `inputs` is the expected
/// d, -1 for any.
TabularRows tabular_rows(const Batch& data, int64_t inputs, at::ScalarType type, std::string_view function);

/// Throws std::invalid_argument unless the catalogue says that the method takes this task; the message names
/// the methods that do.
void check_task(const Task& task, std::string_view method);

/// Returns the rows that a method trains on. Throws as check_task and tabular_rows, and if there is no row,
/// no input or no target.
TabularRows training_rows(const Dataset& data, at::ScalarType type, std::string_view function);

/// Returns the validation rows, which must have as many inputs as the training rows and a target. Both
/// tensors are undefined if `data` is empty.
TabularRows validation_rows(const Dataset& data, const TabularRows& train, std::string_view function);

/// Returns the note for a network that was trained on the evidence without validation rows.
const char* evidence_overfits();

/// Returns the mean over the rows of a per-row loss [b], computed 4096 rows at a time without gradients.
double mean_over_rows(const TabularRows& rows,
                      const std::function<at::Tensor(const at::Tensor& x, const at::Tensor& y)>& loss);

}  // namespace slimbayes
