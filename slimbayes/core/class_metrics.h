#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Metrics of class probabilities, computed over all rows in float64; y [n] holds class numbers 0 to C - 1.
/// All throw std::invalid_argument for mismatched or empty inputs.

/// Returns the share of rows whose most probable class (among equals, the first) is y.
double accuracy(const Classes& p, const at::Tensor& y);

/// Returns the mean of -log p_y. A probability that rounding made 0 counts as the smallest normal number
/// (708 nats).
double class_nll(const Classes& p, const at::Tensor& y);

/// Returns the Brier score: the mean over rows of sum_c (p_c - [y = c])^2, in [0, 2].
double brier(const Classes& p, const at::Tensor& y);

/// How confidences are binned: with equal numbers of rows per bin (rows of equal confidence stay together),
/// or into intervals of equal width.
enum class Bins { equal_mass, equal_width };

/// The calibration error: the gap between the accuracy and the mean confidence (the largest probability)
/// within bins.
struct CalibrationError {
  double expected;  // ECE: mean gap over bins, weighted by their number of rows
  double maximum;   // MCE: largest gap of a bin
};
CalibrationError calibration_error(const Classes& p, const at::Tensor& y, Bins kind = Bins::equal_mass,
                                   int64_t bins = 15);

/// Returns the confusion matrix [C, C], int64: element (t, c) is the number of rows of true class t for which
/// class c is predicted (the most probable; among equals, the first).
at::Tensor confusion(const Classes& p, const at::Tensor& y);

/// Returns the F1 score 2 TP / (2 TP + FP + FN) of each class, from a confusion matrix [C, C]. It is NaN for
/// a class that is neither true nor predicted. [C]
at::Tensor f1_scores(const at::Tensor& counts);

/// Reports the metrics of a classification:
///   n, accuracy, nll, brier  as above
///   ece, mce, ece_width      calibration errors in 15 bins of equal mass; ece_width is the ECE in 15 of
///                            equal width
///   nll_constant             NLL of predicting the class frequencies of y for every row; absent if y has one
///                            class
///   base_class, base_rate    the most frequent class in y, and the accuracy of always predicting it
///   f1_macro                 mean F1 over the classes that are true or predicted somewhere
///   confusion                the confusion matrix, rows are true classes; absent for more than 100 classes
///   f1, auroc, aupr          for two classes only, of the second class. f1 is absent if that class is
///                            neither true nor predicted; auroc and aupr (of its probability) are absent
///                            unless both classes occur in y
nlohmann::json classes_report(const Classes& p, const at::Tensor& y);

}  // namespace slimbayes
