#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// A running sum of tensors. Adding in groups of 16 reduces the rounding error of long sums.
class GroupedSum {
 public:
  void add(const at::Tensor& x);
  at::Tensor mean() const;  // of all added tensors, of which there must be at least one

 private:
  at::Tensor group_, total_;
  int64_t count_ = 0;
};

/// The equally weighted mixture of several answers to the same rows (mixture() of core/answers.h), from
/// running sums: memory does not grow with the number of answers. Takes regressions or classes. The variance
/// of the means uses Welford's update, which is never negative.
class RunningMixture {
 public:
  /// Throws std::logic_error if the task differs from the first answer's.
  void add(const Predictive& answer);

  /// Returns the mixture of all answers so far, at least one. Equal to mixture() up to rounding.
  Predictive mixture() const;

 private:
  void collect(const Regression& answer);
  void collect(const Classes& answer);

  bool classes_ = false;
  int64_t count_ = 0, zeroed_ = 0;
  GroupedSum first_, second_, third_;  // means of the answers' three tensors
  at::Tensor centre_, squares_;        // of a regression: running mean, and sum of squared deviations from it
};

}  // namespace slimbayes
