#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Metrics of how well a score ranks positives above negatives. Scores are [n] per side and finite, and are
/// compared in float64; ties are counted exactly. All metrics throw std::invalid_argument for an empty side.

/// Returns the probability that a positive's score exceeds a negative's; ties count half.
double auroc(const at::Tensor& negative_scores, const at::Tensor& positive_scores);

/// Returns the sd of auroc() around 0.5 under the null hypothesis that a score without ties is uninformative
/// (Mann and Whitney 1947). Use it to judge whether an AUROC differs from chance. Both counts must be > 0.
double auroc_sd(int64_t negatives, int64_t positives);

/// Returns the area under the precision-recall curve as a step function: the sum over thresholds k of
/// (R_k - R_{k-1}) P_k, with recall R_k and precision P_k. A constant score gives the prevalence of the
/// positives.
double average_precision(const at::Tensor& negative_scores, const at::Tensor& positive_scores);

/// Returns the false alarms of a detector that finds a share `recall` of the positives (FPR@95 for 0.95):
/// with the highest threshold that this share of the positives reaches, the share of the negatives whose
/// score is at or above it. A constant score gives 1. Throws std::invalid_argument unless 0 < recall <= 1.
double false_positive_rate(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                           double recall = 0.95);

}  // namespace slimbayes
