#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/noise_estimate.h"
#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

/// The least number of validation rows that determine the noise reliably. With NoiseFolds::grouped, rows with
/// identical inputs count once. If there are fewer, the noise is estimated by cross-fitting.
inline constexpr int64_t kEnoughRows = 30;

/// How the noise of a fit is estimated by cross-fitting, and the words of the notes on it.
struct NoiseFolds {
  int64_t folds = 5;    // 0: no cross-fitting
  bool grouped = true;  // rows with identical inputs share a fold
  Stream deal{0};       // decides which rows are in which fold
  /// False: no folds are fitted. Set it to false for windows, which overlap, for rows that are not in memory,
  /// and for a fit with the network of another model, because that network has seen the rows of all folds.
  bool possible = true;
  std::string_view noun = "row";  // the word for one example in notes
  bool splits = true;             // notes may advise a larger validation fraction
  int64_t known = 0;              // validation rows that gave the noise of a network from another model
};

/// The main fit, tuned or not, and the estimate of its noise (empty if the noise was not cross-fitted and
/// there is no note on it).
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

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
/// checkpoint (FitSeries). For the other two reasons, which are known only after the main fit, the checkpoint
/// of the folds then replaces that of the main fit. A run that is killed and resumed gives the same bits.
/// Throws std::invalid_argument if the number of folds is negative or 1; 0 turns cross-fitting off.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

}  // namespace slimbayes
