#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes {

/// What is predicted, and the affine map back to the user's units: y_user = y_shift + y_scale * y.
struct Task {
  std::string kind = "regression";
  int64_t outputs = 1;
  double y_shift = 0;  // mean of the training targets
  double y_scale = 1;  // sd of the training targets (1 when they are all equal)
};

struct Schema {
  Task task;
  std::vector<std::string> features;  // names of the d encoded inputs
};

/// Rows ready for a method.
struct Batch {
  std::vector<at::Tensor> inputs;  // {[b, d]} for a table
  at::Tensor target;               // [b] standardised; undefined when not known
};

/// Encoded rows in memory, float64. A value; the tensors are shared and never written to.
struct Dataset {
  Schema schema;
  Batch all;

  int64_t size() const;                         // n
  Batch rows(const at::Tensor& indices) const;  // indices [b] int64
  Dataset subset(const at::Tensor& indices) const;
};

}  // namespace slimbayes
