#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "slimbayes/train/problem.h"

namespace slimbayes {

/// AdamW (Loshchilov and Hutter 2019) over flat groups, one fused update a group; betas .9, .999, eps 1e-8.
class AdamW {
 public:
  explicit AdamW(std::vector<ParameterGroup> groups);

  void zero_grad();

  /// One update with every group's rate times `factor`.
  void step(double factor);

  /// First and second moments, one pair a group, then the step count: what a checkpoint keeps.
  std::vector<at::Tensor> state() const;
  void restore(const std::vector<at::Tensor>& state);

 private:
  std::vector<ParameterGroup> groups_;
  std::vector<at::Tensor> first_, second_;  // [p_group]
  at::Tensor count_;                        // scalar float32
};

}  // namespace slimbayes
