#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// How well a score ranks positives above negatives. Scores [n] of each side, finite, float64; ties are
/// exact. Throws std::invalid_argument for an empty side.

/// Probability that a positive's score exceeds a negative's, ties counted half.
double auroc(const at::Tensor& negative_scores, const at::Tensor& positive_scores);

/// The sd of auroc() around 0.5 where a score without ties tells nothing (Mann and Whitney 1947).
double auroc_sd(int64_t negatives, int64_t positives);

/// Area under the precision-recall curve as a step function: the sum over thresholds of (R_k - R_{k-1}) P_k.
/// A constant score gives the prevalence of the positives.
double average_precision(const at::Tensor& negative_scores, const at::Tensor& positive_scores);

}  // namespace slimbayes
