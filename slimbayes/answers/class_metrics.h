#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Metrics of class probabilities, computed over all rows in float64. y [n] holds the true classes as numbers
/// 0 to C - 1. All functions with p and y throw std::invalid_argument if their shapes do not match or if
/// there are no rows. `weight` [n], each > 0, is the number of equal rows that a row counts as; undefined: 1.
/// A mean or a share is then one by the weights.

/// Returns the accuracy: the share of rows whose most probable class is the true class y. If several classes
/// are equally probable, the first counts.
double accuracy(const Classes& p, const at::Tensor& y, const at::Tensor& weight = {});

/// Returns the negative log likelihood in nats: the mean over rows of -log p_y, where p_y is the probability
/// of the true class. A p_y that rounding made 0 counts as the smallest normal double, which adds 708 nats
/// for that row.
double class_nll(const Classes& p, const at::Tensor& y, const at::Tensor& weight = {});

/// Returns the negative log likelihood of each row, whose mean is class_nll(). [n]
at::Tensor class_row_nll(const Classes& p, const at::Tensor& y);

/// Returns the Brier score, the mean over rows of sum_c (p_c - [y = c])^2, where [y = c] is 1 for the true
/// class and 0 for the others. It lies in [0, 2]; smaller is better.
double brier(const Classes& p, const at::Tensor& y, const at::Tensor& weight = {});

/// How rows are divided into bins by their confidence. equal_mass: bins with equal numbers of rows, or equal
/// sums of their weights (rows of equal confidence stay together). equal_width: intervals of [0, 1] with
/// equal width.
enum class Bins { equal_mass, equal_width };

/// The calibration error of class probabilities. The confidence of a row is its largest probability. Rows are
/// binned by confidence, and the gap of a bin is |accuracy - mean confidence| of its rows.
struct CalibrationError {
  double expected;  // ECE: mean of the gaps, weighted by the rows in each bin or the sum of their weights
  double maximum;   // MCE: the largest gap
};
CalibrationError calibration_error(const Classes& p, const at::Tensor& y, Bins kind = Bins::equal_mass,
                                   int64_t bins = 15, const at::Tensor& weight = {});

/// A reliability diagram: how often the most probable class of a row is the true one, against how sure the
/// model is of it. A calibrated model has accuracy = confidence in every bin. Bins without rows are left out.
struct Reliability {
  at::Tensor confidence;   // [bins] mean confidence of the rows of each bin
  at::Tensor accuracy;     // [bins] share of the rows of each bin whose most probable class is the true one
  at::Tensor rows;         // [bins] int64, number of rows of each bin
  at::Tensor weight = {};  // [bins] sum of the weights of the rows of each bin; undefined without weights
};
/// Bins the rows as calibration_error() does, so that the ECE is the mean of |accuracy - confidence| weighted
/// by `rows`, or by Reliability::weight. Throws std::invalid_argument unless bins > 0.
Reliability reliability(const Classes& p, const at::Tensor& y, Bins kind = Bins::equal_mass,
                        int64_t bins = 15, const at::Tensor& weight = {});

/// Returns the confusion matrix [C, C], int64: element (t, c) is the number of rows of true class t for which
/// class c is predicted. The predicted class is the most probable one; if several are equally probable, the
/// first. With weights it is the sum of the weights of these rows, float64.
at::Tensor confusion(const Classes& p, const at::Tensor& y, const at::Tensor& weight = {});

/// Returns a confusion matrix as one list for each true class.
std::vector<std::vector<int64_t>> listed_counts(const at::Tensor& counts);

/// Returns the F1 score of each class, 2 TP / (2 TP + FP + FN), from a confusion matrix [C, C] of rows or of
/// their weights. The score is NaN for a class that no row has and that is never predicted. [C]
at::Tensor f1_scores(const at::Tensor& counts);

/// Returns the metrics of a classification into the classes with these names, one for each of the C. What may
/// be absent: nll_constant, the NLL of predicting the class frequencies of y for every row, if y has one
/// class; the confusion matrix for more than 100 classes; f1, auroc and aupr, the scores of class 1 as the
/// positive class, unless there are two classes. auroc and aupr need both classes in y; f1 is absent if it is
/// NaN. With weights every score is by them, and total_weight and effective_rows are set; the confusion
/// matrix counts rows all the same. Throws std::invalid_argument unless there is a name for each class.
Evaluation classes_report(const Classes& p, const at::Tensor& y, const std::vector<std::string>& levels,
                          const at::Tensor& weight = {});

/// Returns how well scores of uncertainty [n], larger for a less certain row, tell the rows whose most
/// probable class is wrong from the others. An uninformative score has the aupr_err `rate` and the aupr_succ
/// 1 - rate. With weights the rate and the scores are by them; `wrong` counts rows.
ErrorsReport errors_report(const Classes& p, const at::Tensor& y, const Scores& uncertainty,
                           const at::Tensor& weight = {});

}  // namespace slimbayes
