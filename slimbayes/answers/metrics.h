#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Metrics of the predictive of a regression, computed over all rows in float64; answers/density.h has the
/// NLL. y [n] are the targets and must be finite. coverage, interval_width and interval_score are those of
/// the central intervals at `level`. All throw std::invalid_argument if shapes do not match or there are no
/// rows. `weight` [n], each > 0, is the number of equal rows that a row counts as; undefined: 1. A mean or a
/// share is then one by the weights.
///
/// The absolute error is that of the median, which minimises its expectation (Gneiting 2011, Making and
/// evaluating point forecasts); the squared error is that of the mean. For a Gaussian both are the mean.
SLIMBAYES_EXPORT double mean_absolute_error(const Regression& p, const at::Tensor& y,
                                            const at::Tensor& weight = {});
SLIMBAYES_EXPORT double root_mean_squared_error(const Regression& p, const at::Tensor& y,
                                                const at::Tensor& weight = {});
SLIMBAYES_EXPORT double crps(const Regression& p, const at::Tensor& y,
                             const at::Tensor& weight = {});  // mean of regression_row_crps
SLIMBAYES_EXPORT double coverage(const Regression& p, const at::Tensor& y, double level,
                                 const at::Tensor& weight = {});  // share of y inside the interval
SLIMBAYES_EXPORT double interval_width(const Regression& p, double level,
                                       const at::Tensor& weight = {});  // mean width of the interval
SLIMBAYES_EXPORT double interval_score(
    const Regression& p, const at::Tensor& y, double level,
    const at::Tensor& weight = {});  // mean; Gneiting and Raftery 2007, eq. 43
/// Coverage, mean width and mean interval score of given intervals, for example conformal ones
/// (answers/conformal.h), instead of those of the density. y [n].
SLIMBAYES_EXPORT double coverage(const Interval& i, const at::Tensor& y, const at::Tensor& weight = {});
SLIMBAYES_EXPORT double interval_width(const Interval& i, const at::Tensor& weight = {});
SLIMBAYES_EXPORT double interval_score(const Interval& i, const at::Tensor& y, double level,
                                       const at::Tensor& weight = {});
/// Returns the histogram of the probability integral transform, that is of the predictive cdf at y, over
/// equal bins of [0, 1]: the share of rows in each bin. It is flat if the model is calibrated. [bins]
SLIMBAYES_EXPORT at::Tensor pit_histogram(const Regression& p, const at::Tensor& y, int64_t bins,
                                          const at::Tensor& weight = {});

/// A calibration curve: the share of rows inside the central interval at each of several levels. It
/// lies on the diagonal, coverage = level, if the model is calibrated. A row of variance 0 is inside only if
/// y equals its mean.
struct CalibrationCurve {
  at::Tensor level;     // [points] evenly spaced in (0, 1)
  at::Tensor coverage;  // [points] share of rows inside the interval at each level
  double area;          // mean |coverage - level|; 0 for perfect calibration
};
SLIMBAYES_EXPORT CalibrationCurve calibration_curve(const Regression& p, const at::Tensor& y,
                                                    int64_t points = 99, const at::Tensor& weight = {});

/// Returns the predictive with its aleatoric variance set to 0. Its intervals are about the latent function,
/// not about the target, so they cover fewer targets than their level says. Some papers report them:
/// intervals from the spread of the draws or of the members alone.
SLIMBAYES_EXPORT Regression epistemic_part(const Regression& p);

/// Returns the probability that at least `misses` of n independent intervals miss their target if each misses
/// with probability 1 - level (a binomial tail). A small value says that the intervals do not hold their
/// level. It counts rows: of weighted rows take the effective number of them (Evaluation::effective_rows),
/// rounded, as n, and the share of misses by weight times n, rounded down, as `misses`. Throws
/// std::invalid_argument unless 0 <= misses <= n and 0 < level < 1.
SLIMBAYES_EXPORT double probability_of_misses(int64_t misses, int64_t n, double level);

/// Returns the metrics of a regression that `slimbayes evaluate` prints: those of the central intervals at
/// `level`, and standardised ones for the target divided by `target_sd`. The baselines nll_constant, the NLL
/// of one Gaussian with the mean and sd of y for every row, and rmse_constant are absent if all y are equal.
/// With weights also that mean and that sd are those by the weights, and total_weight and effective_rows are
/// set; n counts rows.
/// Throws std::invalid_argument unless `target_sd` is finite and > 0.
SLIMBAYES_EXPORT Evaluation regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                                              double level = 0.95, const at::Tensor& weight = {});

/// Returns the coverage and the mean width of the Gaussian intervals of epistemic_part(p) at `level`; the
/// standardised width is that of the target divided by `target_sd`. Returns nothing if the epistemic variance
/// of every row is 0: the model has no epistemic part.
SLIMBAYES_EXPORT std::optional<EpistemicReport> epistemic_report(const Regression& p, const at::Tensor& y,
                                                                 double target_sd, double level = 0.95,
                                                                 const at::Tensor& weight = {});

/// The intervals of n rows with the level that they were made for.
struct LevelInterval {
  double level;
  Interval interval;
};

/// Returns the same metrics as the overload with `level`, but its coverage, width and interval score are
/// those of given intervals, for example conformal ones, instead of Gaussian ones.
SLIMBAYES_EXPORT Evaluation regression_report(const Regression& p, const at::Tensor& y, double target_sd,
                                              const LevelInterval& given, const at::Tensor& weight = {});

/// The rows whose intervals have about the same width.
struct SizeBin {
  int64_t rows = 0;
  double width = 0, coverage = 0, gap = 0;
};

template <class V>
void describe(SizeBin& f, V& v) {
  v("rows", f.rows, "number of rows");
  v("width", f.width, "mean width of the intervals");
  v("coverage", f.coverage, "share of the targets inside their intervals");
  v("gap", f.gap, "coverage minus the level, in sds of a binomial share of so many rows");
}

/// The coverage by the width of the interval (the size-stratified coverage of Angelopoulos and Bates 2021, A
/// gentle introduction to conformal prediction, section 4.2).
struct SizeCoverage {
  std::vector<SizeBin> bins = {};
  double largest_gap = 0;
  std::string says = {};
};

template <class V>
void describe(SizeCoverage& f, V& v) {
  v("bins", f.bins, "up to five bins of equal mass, the narrowest intervals first; equal widths share a bin");
  v("largest_gap", f.largest_gap,
    "largest distance of a coverage from the level, in sds of a binomial share; beyond 2.6 in 1 of 20 cases "
    "with five bins that hold the level");
  v("says", f.says, "the bin whose coverage lies farthest from the level");
}

/// How far the coverage given the inputs lies from the level at least, as far as a classifier can tell.
struct ExcessRisk {
  int64_t rows = 0, folds = 0;
  std::optional<double> ert_l1 = {}, ert_l1_se = {}, ert_brier = {}, ert_brier_se = {};
  std::optional<std::string> absent = {};
  std::string says = {};
};

template <class V>
void describe(ExcessRisk& f, V& v) {
  v("rows", f.rows, "number of rows by which it is estimated");
  v("folds", f.folds, "number of folds of the cross-fitting");
  v("ert_l1", f.ert_l1,
    "estimate of a lower bound of the mean distance between the coverage given the inputs and the level");
  v("ert_l1_se", f.ert_l1_se, "its standard error, from the folds");
  v("ert_brier", f.ert_brier, "estimate of a lower bound of the mean square of this distance");
  v("ert_brier_se", f.ert_brier_se, "its standard error, from the folds");
  v("absent", f.absent, "why there is no estimate");
  v("says", f.says, "what the estimate says");
}

}  // namespace slimbayes
