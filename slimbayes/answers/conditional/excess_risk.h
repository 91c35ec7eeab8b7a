#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/metrics.h"

namespace slimbayes {

/// Returns the excess risk of the target coverage, ERT (arXiv 2512.11779): how much better a classifier
/// predicts whether a row is covered than the constant `level` does. covered [n] is 0 or 1, p [n] the
/// classifier's probability of 1 by a fit that did not see the row, fold [n] the number of its fold from 0,
/// weight [n] as in answers/metrics.h. With c(x) the true coverage given the inputs,
///   ert_brier  mean of (level - z)^2 - (p - z)^2, which is at most E[(c(x) - level)^2] in expectation,
///   ert_l1     mean of sign(p - level) (z - level), which is at most E|c(x) - level|,
/// both with equality for p = c. So they are estimates of lower bounds: near 0 where the coverage is the
/// level everywhere, or where the classifier cannot tell where it is not; a classifier that is worse than the
/// constant makes them negative. The standard errors are those of the mean of the folds' means. Throws
/// std::invalid_argument unless the shapes match, 0 <= p <= 1, 0 < level < 1, and there are two folds or more
/// with rows.
ExcessRisk excess_risk(const at::Tensor& covered, const at::Tensor& p, const at::Tensor& fold, double level,
                       const at::Tensor& weight = {});

}  // namespace slimbayes
