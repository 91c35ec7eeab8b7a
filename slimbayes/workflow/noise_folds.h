#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

/// The least number of rows, or of groups of rows with identical inputs, that the sd of an answer should rest
/// on.
inline constexpr int64_t kEnoughRows = 30;

/// A lower bound on the model's aleatoric variance, estimated by cross-fitting where too few validation
/// rows chose the noise (fit_with_noise_folds), and the notes on it. Stored in the model file.
struct NoiseEstimate {
  int64_t folds = 0, rows = 0;  // that gave the estimate; 0: there is none
  double var = 0;               // least aleatoric variance of an answer, of the standardised target
  double sd = 0;                // its root in the target's units
  bool interrupted = false;     // stopped before the last fold: the estimate rests on the folds before
  std::vector<std::string> notes = {};

  bool empty() const { return notes.empty(); }  // every estimate has a note
};

nlohmann::json to_json(const NoiseEstimate& noise);
/// Throws std::invalid_argument for a negative variance.
NoiseEstimate noise_from_json(const nlohmann::json& json);

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
/// - the parameters were chosen on fewer than kEnoughRows validation rows (with `grouped`, rows with
///   identical inputs count once);
/// - there are at most 2,000 training rows and at least 4 different inputs.
/// For each fold, the method is fitted to the other rows, with the options that `main` resolved, and predicts
/// the fold. A fold that fails numerically gives a note, and the other folds are used. If a condition fails,
/// only `main` runs, with its usual checkpoint, and few validation rows give a note. With a checkpoint,
/// `main` and the folds form one series (FitSeries): a run that is killed and resumed gives the same bits.
/// Throws std::invalid_argument if the number of folds is negative or 1; 0 turns cross-fitting off.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

/// Returns the variance v >= 0 that maximises sum_i weight_i log N(residuals_i; 0, var_i + v). It is 0 if no
/// residuals_i^2 exceeds var_i; otherwise it is above 0 where some var_i is 0. residuals [n]; var [n], at
/// least 0; weight [n], positive; n > 0.
double noise_variance(const at::Tensor& residuals, const at::Tensor& var, const at::Tensor& weight);

}  // namespace slimbayes
