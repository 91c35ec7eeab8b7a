#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// AdamW (Loshchilov and Hutter 2019) over flat groups, with one fused update per group; beta1 is 0.9,
/// eps 1e-8. All groups are on one device, where the moments and the step count are too.
class AdamW {
 public:
  explicit AdamW(std::vector<ParameterGroup> groups, double beta2 = 0.999);

  /// Sets every group's gradient to zero.
  void zero_grad();

  /// Updates every group once, with its learning rate multiplied by `factor`.
  void step(double factor);

  /// Returns the tensors that a checkpoint keeps, not copied: the first and second moments of each group,
  /// then the step count.
  std::vector<at::Tensor> state() const;
  /// Copies a state() into this optimiser.
  void restore(const std::vector<at::Tensor>& state);

 private:
  std::vector<ParameterGroup> groups_;
  double beta2_;
  std::vector<at::Tensor> first_, second_;  // [p_group]
  at::Tensor count_;                        // scalar float32
};

}  // namespace slimbayes
