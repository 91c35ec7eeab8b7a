#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Metrics of how well a score separates positive from negative examples, where positives should have larger
/// scores (for out-of-distribution detection the positives are the foreign rows). Scores are passed as one
/// tensor of the negatives and one of the positives. They must be finite and are compared in float64; ties
/// are counted exactly. The metrics throw std::invalid_argument if either tensor is empty. An example of
/// weight w > 0 counts as w equal ones; undefined weights: each counts once.

/// Returns the area under the ROC curve: the probability that a random positive has a larger score than a
/// random negative, where a tie counts one half.
double auroc(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
             const at::Tensor& negative_weight = {}, const at::Tensor& positive_weight = {});

/// Returns the sd that auroc() has around 0.5 if the score is uninformative and has no ties (Mann and Whitney
/// 1947). Use it to judge whether an AUROC differs from chance. Both counts must be > 0.
double auroc_sd(int64_t negatives, int64_t positives);

/// Returns the average precision, the area under the precision-recall curve as a step function: the sum over
/// all thresholds k, from the highest, of (R_k - R_{k-1}) P_k, with recall R_k and precision P_k. A constant
/// score gives the share of positives among all examples.
double average_precision(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                         const at::Tensor& negative_weight = {}, const at::Tensor& positive_weight = {});

/// Returns the share of negatives that are false alarms if the threshold is set so that a share `recall` of
/// the positives is found (0.95 gives FPR@95). The threshold is the highest score that at least this share of
/// the positives reaches; a negative at or above it is a false alarm. A constant score gives 1. Throws
/// std::invalid_argument unless 0 < recall <= 1.
double false_positive_rate(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                           double recall = 0.95);

/// Returns the share of positives that are found if the threshold is set so that at most a share `alarms` of
/// the negatives are false alarms (0.05 gives TPR at 5 % FPR). A positive is found if its score is above that
/// of every negative that must not be an alarm; a tie with such a negative does not count. A constant score
/// gives 0. Throws std::invalid_argument unless 0 <= alarms < 1.
double true_positive_rate(const at::Tensor& negative_scores, const at::Tensor& positive_scores,
                          double alarms = 0.05);

}  // namespace slimbayes
