#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Metrics of class probabilities, each over rows, float64; y [n] holds class numbers 0 to C - 1. All throw
/// std::invalid_argument for mismatched or empty inputs.

/// Share of rows whose most probable class, the first of equals, is y.
double accuracy(const Classes& p, const at::Tensor& y);

/// Mean of -log p_y; a probability that rounding made 0 counts as the smallest normal number (708 nats).
double class_nll(const Classes& p, const at::Tensor& y);

/// Mean over rows of sum_c (p_c - [y = c])^2, in [0, 2].
double brier(const Classes& p, const at::Tensor& y);

/// How confidences are binned: as many rows each (rows of equal confidence stay together), or as wide each.
enum class Bins { equal_mass, equal_width };

/// Gap between the accuracy and the mean confidence (the largest probability) within bins.
struct CalibrationError {
  double expected;  // ECE: mean over bins, weighted by their rows
  double maximum;   // MCE
};
CalibrationError calibration_error(const Classes& p, const at::Tensor& y, Bins kind = Bins::equal_mass,
                                   int64_t bins = 15);

/// Rows of each true class that each class is predicted for (the most probable, the first of equals): int64,
/// a row a true class. -> [C, C]
at::Tensor confusion(const Classes& p, const at::Tensor& y);

/// 2 TP / (2 TP + FP + FN) of each class of such counts [C, C]; NaN for one that is neither true nor
/// predicted. -> [C]
at::Tensor f1_scores(const at::Tensor& counts);

/// n, accuracy, nll, brier, ece, mce (15 bins of equal mass), ece_width (15 of equal width); of what one
/// answer for every row would have: nll_constant (the shares that the classes have in y itself; absent where
/// one has them all), base_rate (the accuracy of base_class, the commonest in y); f1_macro (the mean over the
/// classes that are true or predicted somewhere), confusion (of at most 100 classes, rows are true); of two
/// classes f1 of the second one and, if both occur in y, auroc and aupr of its probability.
nlohmann::json classes_report(const Classes& p, const at::Tensor& y);

}  // namespace slimbayes
