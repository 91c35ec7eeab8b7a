#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/data/folds.h"
#include "slimbayes/method/method.h"
#include "slimbayes/train/fit_series.h"
#include "slimbayes/workflow/noise_folds.h"

namespace slimbayes {

/// The main fit and its folds in progress (fit_with_noise_folds). The checkpoint's record holds the state
/// after each fit: a run that is killed and resumed gives the same bits. The constructor's arguments must
/// outlive this object.
class NoiseSeries {
 public:
  NoiseSeries(const MethodInfo& method, const Split& parts, const NoiseFolds& folds,
              const FitContext& context);

  /// Whether there are enough different inputs for folds.
  bool possible() const { return !folds_.empty(); }

  /// Whether an earlier run began the series.
  bool recorded() const { return series_.recorded(); }

  /// Runs the main fit as the first of the series, then the folds.
  CrossFitted run(const std::function<Tuned(const FitContext&)>& main);

  /// Runs the folds after a main fit outside the series. `why` is the start of the note.
  CrossFitted run_after(Tuned main, std::string why);

 private:
  CrossFitted run_folds();
  bool next();  // fits and predicts the next fold; false if it was interrupted
  /// Fits the rows of a fold that are not held out. Throws as Method::fit.
  std::unique_ptr<Fitted> fitted_without(const Fold& fold) const;
  /// Adds the residuals of the fold's held-out rows. Throws NumericalError if an answer is not finite.
  void add_residuals(const Fitted& fitted, const Fold& fold);
  void failed(const std::exception& error);
  bool stopped() const { return context_.callback && context_.callback->stop(); }
  /// Returns a result without an estimate, and a note that says why.
  NoiseEstimate unknown(const std::string& why, bool stopped) const;
  NoiseEstimate estimate(bool stopped) const;
  /// Reads the state from the record. Returns false if the main fit is not in the record yet.
  bool resume(TensorFile record);
  void save() const;

  const MethodInfo& method_;
  const MethodInfo& fold_method_;  // MethodInfo::noise_of
  const Split& parts_;
  const FitContext& context_;
  FitSeries series_;
  Dataset all_;                 // training, then validation rows
  std::vector<int64_t> group_;  // [n] group of each row
  std::vector<Fold> folds_;
  Tuned main_;
  size_t done_ = 0;                     // folds done, failed ones included
  int64_t served_ = 0, groups_ = 0;     // folds that succeeded, and their groups
  at::Tensor residual_, var_, weight_;  // of the rows held out so far, float64 [rows]
  std::vector<std::string> notes_;
  std::string why_;  // why the noise is estimated; starts the note
};

}  // namespace slimbayes
