#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The parts of the answers to n rows that an explanation compares. Float64.
struct AnswerParts {
  at::Tensor mean;  // [n] in the target's units; of classes [n, C], their probabilities
  at::Tensor
      aleatoric;  // [n] sd of the noise; of counts the root of the mean; of classes the expected entropy
  at::Tensor epistemic;  // [n] sd of the function or of the rate; of classes the mutual information
  at::Tensor spread;     // [n] log of the whole sd; of classes the entropy
  at::Tensor width;      // [n] width of the interval; undefined for classes and without an interval

  /// Returns the parts of the rows with these indices [m] int64.
  AnswerParts at_rows(const at::Tensor& rows) const;
};

/// Returns the parts of answers to numbers, classes or counts. Throws std::invalid_argument for an intensity.
AnswerParts answer_parts(const Predictive& p, const std::optional<Interval>& interval);

}  // namespace slimbayes
