#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// What uncertainty_report() needs besides the predictive and the targets.
struct UncertaintyOptions {
  std::string score = "epistemic_sd";  // regression: the score of scores() (answers/answers.h); "": none
  double level = 0.95;                 // regression: level of the epistemic intervals
  double target_sd = 1;                // regression: sd of the target, for standardised metrics
};

/// Returns the scores of uncertainty of each row, by name, [n] each; larger for a less certain row. They are
/// scores() (answers/answers.h) and, for a regression and counts, total_sd, the sd of the whole predictive.
Scores uncertainty_scores(const Predictive& p, const std::string& score);

/// Returns the metrics that judge the uncertainty of an answer. They go beside those of report()
/// (answers/answers.h) and have other keys. The score to look at first is mutual_information (classes),
/// log_rate_sd (counts), `options.score` or else total_sd (regression). The calibration curve is that of the
/// Gaussian predictive also if the model has conformal intervals. y [n] in the units of the predictive,
/// classes as numbers. With `weight` [n], each > 0, a row counts as so many equal rows. Throws
/// std::invalid_argument for an intensity.
UncertaintyReport uncertainty_report(const Predictive& p, const at::Tensor& y,
                                     const UncertaintyOptions& options, const at::Tensor& weight = {});

}  // namespace slimbayes
