#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/data/split/folds.h"
#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/fit/tuning.h"
#include "slimbayes/method/method.h"
#include "slimbayes/model/noise_estimate.h"
#include "slimbayes/train/fit_series.h"

namespace slimbayes {

/// The main fit, tuned or not, and the estimate of its noise (empty if the noise was not cross-fitted and
/// there is no note on it).
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

/// The cross-fitting of the noise in progress (fit_with_noise_folds): the main fit, then the fit of each
/// fold. After each fit the state is written to the record of a checkpoint (FitSeries), so a run that is
/// killed and resumed gives the same bits. The constructor's arguments must outlive this object.
class NoiseSeries {
 public:
  NoiseSeries(const MethodInfo& method, const Split& parts, const NoiseFolds& folds,
              const FitContext& context);

  /// Returns whether there are enough different inputs for folds (kFewestGroups).
  bool possible() const { return !folds_.empty(); }

  /// Returns whether the checkpoint to resume from was written by a NoiseSeries of an earlier run.
  bool recorded() const { return series_.recorded(); }

  /// Runs the main fit, then the folds, and returns the main fit with the estimate of its noise.
  CrossFitted run(const std::function<Tuned(const FitContext&)>& main);

  /// Runs the folds for a main fit that has been made already, and returns it with the estimate of its noise.
  /// `why` says why the noise is cross-fitted; the note on the estimate begins with it.
  CrossFitted run_after(Tuned main, std::string why);

 private:
  CrossFitted run_folds();
  bool next();  // fits and predicts the next fold; false if it was interrupted
  /// Fits the method to the training rows of a fold. Throws as Method::fit.
  std::unique_ptr<Fitted> fitted_without(const Fold& fold) const;
  /// Predicts the fold's held-out rows with `fitted` and adds their residuals, variances and weights. Throws
  /// NumericalError if an answer is not finite.
  void add_residuals(const Fitted& fitted, const Fold& fold);
  void failed(const std::exception& error);
  bool stopped() const { return context_.callback && context_.callback->stop(); }
  /// Returns a NoiseEstimate without an estimate, with a note that says `why` there is none.
  NoiseEstimate unknown(const std::string& why, bool stopped) const;
  NoiseEstimate estimate(bool stopped) const;
  /// Reads the state from the record. Returns false if the main fit is not in the record yet.
  bool resume(TensorFile record);
  void save() const;

  const MethodInfo& method_;
  const MethodInfo& fold_method_;  // fits the folds: that of MethodInfo::noise_of, or method_
  const Split& parts_;
  const FitContext& context_;
  FitSeries series_;
  Dataset all_;                 // training, then validation rows
  std::vector<int64_t> group_;  // [n] group of each row
  std::vector<Fold> folds_;
  Tuned main_;
  size_t done_ = 0;                     // folds done, failed ones included
  int64_t served_ = 0, groups_ = 0;     // folds that succeeded; groups of inputs held out in them
  at::Tensor residual_, var_, weight_;  // of the rows held out so far, float64 [rows]
  std::vector<std::string> notes_;
  std::string why_;  // why the noise is estimated; starts the note
};

}  // namespace slimbayes
