#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/split/folds.h"
#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/fit/tuning.h"
#include "slimbayes/method/method.h"
#include "slimbayes/model/noise_estimate.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

/// The main fit, tuned or not, and the estimate of its noise (empty if the noise was not cross-fitted and
/// there is no note on it).
struct CrossFitted {
  Tuned main;
  NoiseEstimate noise;
};

/// The cross-fitting of the noise in progress (fit_with_noise_folds): the main fit and the fits of the folds,
/// which are independent of each other. The folds need the options of the main fit: if these are known before
/// it (NoiseFolds::options), folds run beside it. A run that is killed and resumed gives the same bits
/// (train/jobs.h). The constructor's arguments must outlive this object.
class NoiseSeries {
 public:
  NoiseSeries(const MethodInfo& method, const Split& parts, const NoiseFolds& folds,
              const FitContext& context);

  /// Returns whether there are enough different inputs for folds (kFewestGroups).
  bool possible() const { return !folds_.empty(); }

  /// Returns whether the checkpoint to resume from was written by a NoiseSeries of an earlier run.
  bool recorded() const;

  /// Runs the main fit and the folds, and returns the main fit with the estimate of its noise.
  CrossFitted run(const std::function<Tuned(const FitContext&)>& main);

  /// Runs the folds for a main fit that has been made already, and returns it with the estimate of its noise.
  /// `why` says why the noise is cross-fitted; the note on the estimate begins with it.
  CrossFitted run_after(Tuned main, std::string why);

 private:
  /// The errors of a fold's held-out rows, from which the noise is estimated.
  struct HeldOut {
    /// Of its rows, float64 [rows]. The weight of a row is its own (Dataset::weights) by the number of its
    /// rows in its group.
    at::Tensor residual, var, weight;
    bool whole;  // false: the fit was interrupted
  };
  /// The result of job 0, the main fit, or of job 1 + i, that of fold i.
  struct Part {
    Tuned main;
    std::string why;  // see run_after
    HeldOut held;
  };

  Jobs<Part> jobs(const std::function<Tuned(const FitContext&)>& main) const;
  CrossFitted run_folds(Jobs<Part>& jobs);
  /// Fits the method to the training rows of a fold and predicts its held-out rows. Throws as Method::fit,
  /// and NumericalError if an answer is not finite.
  HeldOut without(size_t fold, const JobContext& job) const;
  Part stored(size_t job, const TensorFile& file) const;
  /// Returns a NoiseEstimate without an estimate, with a note that says `why` there is none.
  NoiseEstimate unknown(const std::string& why, bool stopped) const;
  NoiseEstimate estimate(bool stopped) const;
  /// Returns the number of groups of inputs held out so far; with row weights the effective one
  /// (effective_rows in method/row_weights.h).
  double known_groups() const;

  const MethodInfo& method_;
  const MethodInfo& fold_method_;  // fits the folds: that of MethodInfo::noise_of, or method_
  const Split& parts_;
  const FitContext context_;
  Dataset all_;                 // training, then validation rows
  std::vector<int64_t> group_;  // [n] group of each row
  std::vector<Fold> folds_;
  Tuned main_;
  nlohmann::json options_;              // of the main fit; null while they are not known
  int64_t served_ = 0, groups_ = 0;     // folds that succeeded; groups of inputs held out in them
  at::Tensor residual_, var_, weight_;  // of the rows held out so far, float64 [rows]
  at::Tensor group_sums_;               // sums of weight_ of the groups held out so far [groups_]
  std::vector<std::string> notes_;
  std::string why_;  // why the noise is estimated; starts the note
};

}  // namespace slimbayes
