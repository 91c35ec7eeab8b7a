#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// |y - mean| / sd of rows that neither trained the model nor chose among models, ascending, float64. y [m] in the
/// answer's units; -> [m]. Throws std::invalid_argument for m = 0, other shapes, a value that is not finite, or a
/// row whose total variance is 0.
at::Tensor conformal_scores(const Regression& p, const at::Tensor& y);

/// The least m with ceil((m + 1) level) <= m: the rows without which no finite interval has this level. Throws
/// std::invalid_argument unless 0 < level < 1.
int64_t conformal_rows(double level);

/// Throws std::invalid_argument when m = `rows` are fewer than conformal_rows(level), saying how many it needs.
void check_conformal_rows(int64_t rows, double level);

/// The ceil((m + 1) level)-th smallest score: how many sds an interval must reach so that a further exchangeable row
/// lies inside with probability of at least `level` (Vovk et al. 2005; Lei et al. 2018, theorem 2). scores [m]
/// ascending. Throws as check_conformal_rows does.
double conformal_factor(const at::Tensor& scores, double level);

/// mean -+ conformal_factor(scores, level) sd. Mean and variances stay what they are.
Interval conformal_interval(const Regression& p, const at::Tensor& scores, double level);

}  // namespace slimbayes
