#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/noise_estimate.h"
#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

/// The least number of rows, or of groups of rows with identical inputs, that the sd of an answer should rest
/// on.
inline constexpr int64_t kEnoughRows = 30;

/// How the noise is cross-fitted.
struct NoiseFolds {
  int64_t folds = 5;    // 0: no cross-fitting
  bool grouped = true;  // rows with identical inputs share a fold
  Stream deal{0};       // decides which rows share a fold
  /// False for windows, which overlap, and for rows that are not held in memory: no fold runs.
  bool possible = true;
  std::string_view noun = "row";  // the word for one example in notes
  bool splits = true;             // whether the user may choose the validation fraction: notes advise it
  int64_t known = 0;              // validation rows that gave the noise of a network at hand
};

/// A fit, tuned or not, and the estimate of its noise.
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

/// Runs `main`, which fits the parts. Then estimates the noise by cross-fitting if all of this holds:
/// - the task is a regression;
/// - the noise is in doubt: the parameters were chosen on fewer than kEnoughRows validation rows (with
///   `grouped`, rows with identical inputs count once), or so many of them lie outside their 95 % intervals
///   that intervals that hold their level would miss as often with a probability below 0.05, or their NLL is
///   no better than that of a constant (not of a refit, which has learned the validation rows, nor of
///   rich-bll and bll, which share the noise of these rows);
/// - there are at most 2,000 training rows and at least 4 different inputs.
/// For each fold, the method is fitted to the other rows, with the options that `main` resolved, and predicts
/// the fold. A fold that fails numerically gives a note, and the other folds are used. If a condition fails,
/// only `main` runs, with its usual checkpoint, and few validation rows give a note. With few
/// validation rows, `main` and the folds form one series of checkpoints (FitSeries); otherwise the series of
/// the folds takes the place of the checkpoint of `main` when that has ended. A run that is killed and
/// resumed gives the same bits.
/// Throws std::invalid_argument if the number of folds is negative or 1; 0 turns cross-fitting off.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

}  // namespace slimbayes
