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

/// What can be asked of an answer whatever the task is. Each function dispatches to the active alternative.

/// The task that this is an answer to.
TaskKind task_of(const Predictive& p);

/// n.
int64_t row_count(const Predictive& p);

/// The answers to these rows [m] int64, in this order. `zeroed` still counts the whole answer.
Predictive take(const Predictive& p, const at::Tensor& rows);

/// Joins answers to one task row after row, in the order of `parts`. Throws std::invalid_argument where
/// `parts` is empty or the tasks differ.
Predictive concatenated(const std::vector<Predictive>& parts);

/// An equal mixture of answers to the same n rows, as an answer of the same kind:
/// regression  the Gaussian with its moments (Lakshminarayanan et al. 2017, section 2.4): the average mean and aleatoric
///             variance; epistemic is the average epistemic variance plus the variance of the means (divided by the number
///             of parts)
/// classes     the average probabilities and expected entropy, the entropy of the average: mutual information counts the
///             disagreement
/// rates       of counts and intensities: the log-normal with the mixture's mean and variance
/// Throws std::invalid_argument for no parts, unequal shapes or different tasks.
Predictive mixture(const std::vector<Predictive>& parts);
Regression mixture(const std::vector<Regression>& parts);

/// Converts an answer to the user's units. Regression: y_user = shift + scale * y (see rescaled). Events:
/// adds `shift` to the log intensity; `scale` is unused. Classes and counts are returned unchanged.
Predictive in_units(const Predictive& p, double shift, double scale);

/// Mean over rows of -log p(y), in nats; y [n]. Nothing for an intensity, whose density needs the integral
/// over the domain.
std::optional<double> mean_nll(const Predictive& p, const at::Tensor& y);

struct ReportOptions {
  double level = 0.95;                    // of the interval
  double target_sd = 1;                   // of a regression, for its standardised scores
  std::optional<Interval> interval = {};  // of a regression; absent: the Gaussian one
  std::vector<std::string> levels = {};   // names of the classes
  std::optional<PredictionSet> set = {};  // of classes of a calibrated model
};

/// The task's metrics: regression_report, classes_report (with the names of the classes and of the commonest
/// one, and set_report) or counts_report. Throws std::invalid_argument for an intensity (workflow/events.h
/// reports on events).
nlohmann::json report(const Predictive& p, const at::Tensor& y, const ReportOptions& options);

/// Scores for out-of-distribution detection; larger means farther from the training data. [n] each
///   regression           the score that `score` names ("epistemic_sd" or "total_sd"); none where it is ""
///   classes              "mutual_information", "entropy" and "uncertain" (1 - the largest probability)
///   counts, intensities  "log_rate_sd"
Scores scores(const Predictive& p, const std::string& score);

/// Of each row the first number of the answer that is not finite, as "sd is inf" (mean, sd and its parts, or
/// what the task has for them; the interval, where given); empty for a finite row. [n]
std::vector<std::string> unfinished(const Predictive& p, const std::optional<Interval>& interval = {});

}  // namespace slimbayes
