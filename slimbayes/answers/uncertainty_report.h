#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <string>

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

/// Returns the metrics that judge the uncertainty of an answer, as a JSON object. They go beside those of
/// report() (answers/answers.h) and have other keys:
///   selective          selective_report() by uncertainty_scores(), with `score`, the name of the score to
///                      look at first: mutual_information (classes), log_rate_sd (counts), `options.score` or
///                      else total_sd (regression)
///   errors             classes: errors_report()
///   reliability        classes: reliability() in 15 bins of equal mass, as lists confidence, accuracy, rows
///   calibration_curve  regression: calibration_curve() at 19 levels, as lists level and coverage, and its
///                      area. They are those of the Gaussian predictive also if the model has conformal
///                      intervals. With options.score epistemic_sd also coverage_epistemic and
///                      area_epistemic, those of epistemic_part(), unless all epistemic variances are 0
///   coverage_epistemic, width_epistemic, width_epistemic_standardized
///                      regression with options.score epistemic_sd: epistemic_report()
/// y [n] in the units of the predictive, classes as numbers. Throws std::invalid_argument for an intensity.
nlohmann::json uncertainty_report(const Predictive& p, const at::Tensor& y,
                                  const UncertaintyOptions& options);

}  // namespace slimbayes
