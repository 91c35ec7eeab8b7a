#pragma once

#include <functional>

#include "slimbayes/fit/noise_series.h"

namespace slimbayes {

/// Runs `main`, which fits the method to `parts`. Then estimates the noise by cross-fitting if all of these
/// hold:
/// - the task is a regression;
/// - the validation rows do not determine the noise, for one of these reasons:
///   - there are fewer than kEnoughRows of them (with `grouped`, rows with identical inputs count once);
///   - more of them lie outside their 95 % intervals than chance explains: with intervals that hold their
///     level, so many misses would have a probability below 0.05;
///   - their NLL is no better than that of a constant.
///   The last two reasons are not tested for a refit, which has learned the validation rows, nor for bll and
///   rich-bll, which must have the same noise;
/// - there are at most 2,000 training rows and at least 4 different inputs.
/// For each fold, the method is fitted to the other rows with the options of the main fit, and predicts the
/// rows of the fold. A fold that fails numerically gives a note, and the other folds are used. If a condition
/// does not hold, only `main` runs, with its usual checkpoint; if there are few validation rows, the result
/// has a note on them.
///
/// If few validation rows are the reason, the main fit and the folds are one series of fits with a common
/// checkpoint (train/jobs.h). For the other two reasons, which are known only after the main fit, the
/// checkpoint of the folds then replaces that of the main fit. A run that is killed and resumed gives the
/// same bits. Throws std::invalid_argument if the number of folds is negative or 1; 0 turns cross-fitting
/// off.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

}  // namespace slimbayes
