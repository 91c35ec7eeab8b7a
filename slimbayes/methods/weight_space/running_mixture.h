#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/answers/mixture.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The mean of a stream of tensors of one shape. It sums 16 tensors at a time and then adds up these partial
/// sums, which reduces the rounding error of long sums.
class GroupedSum {
 public:
  void add(const at::Tensor& x);
  at::Tensor mean() const;  // of all added tensors; throws std::logic_error if there are none

 private:
  at::Tensor group_, total_;
  int64_t count_ = 0;
};

/// The equally weighted mixture of several answers to the same rows, like mixture() of answers/answers.h. It
/// keeps running sums instead of the answers, so that the memory does not grow with their number. Takes
/// answers to a regression, a classification, or counts of which every answer knows the rate (log_var 0). The
/// variance of the means follows Welford's update, which is never negative.
class RunningMixture {
 public:
  /// Adds one answer. Throws std::logic_error if its task differs from that of the first answer.
  void add(const Predictive& answer);

  /// Returns the mixture of all answers so far. Throws std::logic_error if there are none.
  Predictive mixture() const;

 private:
  void collect(const Regression& answer);
  void collect(const Classes& answer);
  void collect(const Counts& answer);
  void collect(const Intensity& answer);
  void spread(const at::Tensor& mean);  // Welford's update

  size_t task_ = 0;  // Predictive::index() of the answers
  int64_t count_ = 0, zeroed_ = 0;
  GroupedSum first_, second_, third_;  // averages: of mean and variances, or of probabilities and entropy
  at::Tensor first_rate_;              // log rate of the first answer; rates count relative to it
  at::Tensor centre_, squares_;        // mean of the means or rates, sum of squared deviations
};

/// Returns the equally weighted mixture of S answers to the same b rows, which stand one after the other in
/// `answers` (S b rows). It is the mixture that RunningMixture makes of them, up to rounding.
Predictive mixture_of_draws(const Predictive& answers, int64_t draws);

}  // namespace slimbayes
