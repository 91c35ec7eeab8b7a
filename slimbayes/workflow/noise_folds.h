#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/workflow/tuning.h"

namespace slimbayes {

/// Rows, or groups of rows with identical inputs, that an answer's sd should rest on at least.
inline constexpr int64_t kEnoughRows = 30;

/// A lower bound on the model's aleatoric variance, estimated by cross-fitting where too few validation
/// rows chose the noise (fit_with_noise_folds), and the notes on it. Stored in the model file.
struct NoiseEstimate {
  int64_t folds = 0, rows = 0;  // that served; 0: none did
  double var = 0;               // of the standardised target: the least aleatoric variance of an answer
  double sd = 0;                // its root in the target's units
  bool interrupted = false;     // stopped between two folds: those before it served
  std::vector<std::string> notes = {};

  bool empty() const { return notes.empty(); }  // an estimate that says anything has a note
};

nlohmann::json to_json(const NoiseEstimate& noise);
/// Throws std::invalid_argument for a variance that is none.
NoiseEstimate noise_from_json(const nlohmann::json& json);

struct NoiseFolds {
  int64_t folds = 5;    // 0: none
  bool grouped = true;  // rows with identical inputs share a fold
  Stream deal{0};       // which rows share a fold
  bool possible =
      true;  // false: windows, which overlap, and rows that are not held in memory; then none runs
};

/// A fit, tuned or not, and what its sd rests on.
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

/// Runs `main`, which fits the parts. Of a regression that fewer than kEnoughRows validation rows (of
/// different inputs, where `grouped`) chose, and of at most 2,000 training rows, the noise is then estimated
/// by cross-fitting: the method with the options that `main` resolved is fitted on all rows but a fold, and
/// predicts the fold. Otherwise nothing else runs, `main` writes its checkpoint as without folds, and few
/// validation rows give a note alone. With a checkpoint `main` and the folds are a series (FitSeries): killed
/// and resumed, they end in the same bits. A fold that fails numerically gives a note, the others serve.
/// Throws std::invalid_argument for 1 fold or a negative number.
CrossFitted fit_with_noise_folds(const MethodInfo& method,
                                 const std::function<Tuned(const FitContext&)>& main, const Split& parts,
                                 const NoiseFolds& folds, const FitContext& context);

/// The variance v >= 0 that maximises sum_i weight_i log N(residuals_i; 0, var_i + v), above 0 where a var_i
/// is 0. [n], [n] at least 0, [n] positive; n > 0.
double noise_variance(const at::Tensor& residuals, const at::Tensor& var, const at::Tensor& weight);

}  // namespace slimbayes
