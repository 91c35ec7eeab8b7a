#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/task.h"

namespace slimbayes {

/// What is predicted. Of a regression the affine map back to the user's units, y_user = y_shift + y_scale * y: mean and
/// sd of the training targets (1 when they are all equal). Of events y_shift is what takes the log intensity of the
/// training events over the encoded coordinates to that of all events per unit of the user's. Else 0 and 1.
struct Task {
  TaskKind kind = TaskKind::regression;
  LikelihoodKind likelihood = LikelihoodKind::gaussian;  // one that serves `kind`
  int64_t outputs = 1;  // latent functions: the classes of a softmax, else 1
  double y_shift = 0, y_scale = 1;
  std::vector<std::string> levels = {};  // names of the classes, in the order of their numbers
};

struct Schema {
  Task task;
  std::vector<std::string> features;  // names of the d encoded inputs
};

/// Rows ready for a method.
struct Batch {
  std::vector<at::Tensor> inputs;  // {[b, d]} for a table
  at::Tensor target;               // [b] standardised, a class's number or a count; undefined when not known
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
