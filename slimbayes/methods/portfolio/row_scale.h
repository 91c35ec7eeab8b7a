#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// The largest number of features for which fitted_row_scale() looks for a factor.
inline constexpr int64_t kMostScaleFeatures = 500;

/// A factor of the variance that differs from row to row: exp(w^T (f - centre) / spread) of the row's d
/// features f (multiplicative heteroscedasticity, Harvey 1976).
struct RowScale {
  at::Tensor centre, spread, weights;  // [d] float64; undefined: the factor is 1 in every row
  /// The range of the log factors: all but the least and the largest hundredth of those of the rows that it
  /// was fitted to, at most log 100 from 0. Far from those rows, the exponential of a straight line is not
  /// reliable.
  double low = 0, high = 0;
  /// The largest epistemic variance of these rows. The factor scales the epistemic variance of a row up to
  /// this value. The excess is unchanged, so that rows far from the data stay unsure, however small the
  /// noise.
  double seen_epistemic = std::numeric_limits<double>::infinity();

  bool constant() const { return !weights.defined(); }
};

/// Returns the log factor of each row. features [n, d]. Throws std::invalid_argument for another d. [n]
at::Tensor log_factors(const RowScale& scale, const at::Tensor& features);

/// Returns p with the variances of each row multiplied by its factor, except the epistemic variance beyond
/// scale.seen_epistemic. p must have no density. features [n, d].
Regression scaled_rows(const RowScale& scale, const at::Tensor& features, Regression p);

/// Fits the factor to held-out residuals and returns it, up to a constant. score [n] are residuals divided by
/// their predicted sd; features [n, d], finite; part [n] is the number of each row's fold, from 0.
///
/// Maximises the likelihood of a Student-t distribution with five degrees of freedom, under which a few wild
/// residuals count little, in which each row counts as often as `rows` [n] says (Dataset::weights; undefined:
/// once), with weights w ~ N(0, s^2 I) of the standardised features, by Fisher scoring. The
/// folds choose s: each is scored under the factors of the others. The factor is 1 unless the best s beats it
/// by two standard errors of the difference. It is also 1 with fewer than 50 rows (effective_rows), fewer
/// than two folds, or more than kMostScaleFeatures. O(n d^2 + d^3) per step.
RowScale fitted_row_scale(const at::Tensor& score, const at::Tensor& features,
                          const std::vector<int64_t>& part, const at::Tensor& rows = {});

}  // namespace slimbayes
