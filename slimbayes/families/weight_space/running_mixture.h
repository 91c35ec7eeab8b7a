#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// A sum of tensors in groups of 16, whose rounding error grows with the number of groups.
class GroupedSum {
 public:
  void add(const at::Tensor& x);
  at::Tensor mean() const;  // of all that were added, at least one

 private:
  at::Tensor group_, total_;
  int64_t count_ = 0;
};

/// The equally weighted mixture of answers to the same rows (core/answers.h, mixture), from running sums: its
/// memory does not grow with the number of answers. For a regression or classes. The variance of the means is
/// Welford's update, which takes deviations before squares and is never negative.
class RunningMixture {
 public:
  /// Throws std::logic_error for another task than that of the first answer.
  void add(const Predictive& answer);

  /// Returns the mixture of all answers, at least one; equal to mixture() of them up to rounding.
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
