#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/task.h"
#include "slimbayes/core/prediction_set.h"
#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Operations on an answer that work for every task. Each function dispatches to the active alternative.

/// Returns the task that the answer belongs to.
TaskKind task_of(const Predictive& p);

/// Returns the number of rows n.
int64_t row_count(const Predictive& p);

/// Returns the answers to these rows [m] int64, in this order. `zeroed` is copied: it counts the rows of `p`,
/// not those that were taken.
Predictive take(const Predictive& p, const at::Tensor& rows);

/// Joins answers to one task row after row, in the order of `parts`. Throws std::invalid_argument if `parts`
/// is empty or the tasks differ.
Predictive concatenated(const std::vector<Predictive>& parts);

/// Returns the equally weighted mixture of answers to the same n rows, as an answer to the same task:
/// regression  a Gaussian with the moments of the mixture (Lakshminarayanan et al. 2017, section 2.4): the
///             average mean and aleatoric variance; the epistemic variance is the average epistemic variance
///             plus the variance of the means (divided by the number of parts)
/// classes     the average probabilities, the entropy of that average, and the average expected entropy; so
///             the mutual information includes the disagreement of the parts
/// rates       for counts and intensities: a log-normal rate with the mean and variance of the mixture
/// Throws std::invalid_argument for no parts, unequal shapes or different tasks.
Predictive mixture(const std::vector<Predictive>& parts);
Regression mixture(const std::vector<Regression>& parts);

/// Converts an answer to the user's units. Regression: y_user = shift + scale * y (see rescaled). Events:
/// adds `shift` to the log intensity; `scale` is unused. Classes and counts are returned unchanged.
Predictive in_units(const Predictive& p, double shift, double scale);

/// Returns the mean over rows of -log p(y), in nats; y [n]. Returns no value for an intensity: the density of
/// events needs the integral of the intensity over the domain (workflow/events.h).
std::optional<double> mean_nll(const Predictive& p, const at::Tensor& y);

/// What report() needs in addition to the answer and the targets. Each task reads only its own fields.
struct ReportOptions {
  double level = 0.95;                    // level of the interval (regression, counts)
  double target_sd = 1;                   // regression: sd of the target, for the standardised scores
  std::optional<Interval> interval = {};  // regression: interval to score; absent: the Gaussian one
  std::vector<std::string> levels = {};   // classes: the name of every class; required
  std::optional<PredictionSet> set = {};  // classes: the sets of a calibrated model; absent: not scored
};

/// Returns the metrics of the task: regression_report, counts_report, or classes_report with the names of all
/// classes and of the most frequent class, and with set_report if there are sets. Throws
/// std::invalid_argument for an intensity (workflow/events.h reports on events), and std::out_of_range if
/// `levels` lacks a name.
nlohmann::json report(const Predictive& p, const at::Tensor& y, const ReportOptions& options);

/// Returns scores for out-of-distribution detection; larger means farther from the training data. [n] each
///   regression           "epistemic_sd" or "total_sd", whichever `score` names; no score if `score` is ""
///   classes              "mutual_information", "entropy" and "max_softmax" (1 - the largest probability:
///                        maximum softmax probability, Hendrycks and Gimpel 2017)
///   counts, intensities  "log_rate_sd"
Scores scores(const Predictive& p, const std::string& score);

/// Names, for each row, the first number of the answer that is not finite, such as "sd is inf"; the text is
/// empty for a finite row. Checks the mean, the sd and its parts (or the corresponding numbers of the task),
/// then the ends of `interval` if given. Use it to leave rows without a usable answer out. [n]
std::vector<std::string> non_finite(const Predictive& p, const std::optional<Interval>& interval = {});

}  // namespace slimbayes
