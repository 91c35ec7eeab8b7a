#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace slimbayes {

/// Parameters that share an update rule, as one flat buffer with its gradient beside it.
struct ParameterGroup {
  std::string name;
  at::Tensor value;             // [p] contiguous
  at::Tensor grad;              // [p] the step fills it; the trainer zeroes it before
  double learning_rate = 1e-3;  // peak
  double weight_decay = 0;      // decoupled
};

struct StepContext {
  int64_t step;   // from 0
  int64_t steps;  // budget
};

/// Fills the groups' gradients from the rows of a batch ([b] int64 indices) and returns the loss that was differentiated:
/// mini-batch, two-pass and sharpness-aware alike.
using GradientStep = std::function<double(const at::Tensor& rows, const StepContext&)>;

/// What the trainer trains: it knows flat buffers and a step, no layers.
struct TrainProblem {
  std::vector<ParameterGroup> groups;
  GradientStep step;
  std::function<double()> validate;  // the selection score, lower is better; empty: keep the last parameters
  std::string score = "standardised validation NLL";  // what validate() returns (Summary::score)
  int64_t rows = 0;                                   // training rows
};

}  // namespace slimbayes
