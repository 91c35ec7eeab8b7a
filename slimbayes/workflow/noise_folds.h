#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/noise_estimate.h"
#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

/// The least number of validation rows for a reliable estimate of the noise. With `grouped`, rows with
/// identical inputs count once. With fewer, the noise is cross-fitted (noise_doubt.h).
inline constexpr int64_t kEnoughRows = 30;

/// How the noise is cross-fitted.
struct NoiseFolds {
  int64_t folds = 5;    // 0: no cross-fitting
  bool grouped = true;  // rows with identical inputs share a fold
  Stream deal{0};       // decides which rows are in which fold
  /// False for windows, which overlap, and for rows that are not in memory: no folds are fitted.
  bool possible = true;
  std::string_view noun = "row";  // the word for one example in notes
  bool splits = true;             // notes may advise another validation fraction
  int64_t known = 0;              // validation rows behind the noise of a network at hand
};

/// A fit, tuned or not, and the estimate of its noise.
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

/// Runs `main`, which fits the parts. Then estimates the noise by cross-fitting if all of these hold:
/// - the task is a regression;
/// - the noise is in doubt for one of these reasons:
///   - fewer than kEnoughRows validation rows chose the parameters (with `grouped`, rows with identical
///     inputs count once);
///   - so many of them lie outside their 95 % intervals that valid intervals would miss as often with a
///     probability below 0.05;
///   - their NLL is no better than that of a constant.
///   The last two are not tested for a refit, which has learned the validation rows, nor for rich-bll and
///   bll, which share the noise of these rows;
/// - there are at most 2,000 training rows and at least 4 different inputs.
/// Each fold is predicted by the method fitted to the other rows, with the options that `main` resolved. A
/// fold that fails numerically gives a note, and the other folds are used. If a condition does not hold, only
/// `main` runs, with its usual checkpoint, and few validation rows give a note.
///
/// With few validation rows, `main` and the folds form one series of checkpoints (FitSeries). Otherwise the
/// series of the folds replaces the checkpoint of `main` when that has ended. A run that is killed and
/// resumed gives the same bits. Throws std::invalid_argument if the number of folds is negative or 1; 0 turns
/// cross-fitting off.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

}  // namespace slimbayes
