#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/prediction_set.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Functions on a predictive: the answer of a model for n rows (answers/predictive.h). They work for every
/// task, that is for regression, classes, counts and events. Predictive is a std::variant, and each function
/// calls the version for the type that it holds.

/// Returns the task of a predictive, for example TaskKind::regression for a Regression.
SLIMBAYES_EXPORT TaskKind task_of(const Predictive& p);

/// Returns the number of rows n of a predictive.
SLIMBAYES_EXPORT int64_t row_count(const Predictive& p);

/// Returns a predictive of only the rows whose indices `rows` [m] int64 lists, in that order. The result
/// keeps the count `zeroed` of `p`, which stands for all rows of `p`: it is not known which rows it counted.
SLIMBAYES_EXPORT Predictive take(const Predictive& p, const at::Tensor& rows);

/// Joins several predictives of one task into one that has the rows of all of them, in the order of `parts`.
/// Throws std::invalid_argument if `parts` is empty or the tasks differ.
SLIMBAYES_EXPORT Predictive concatenated(const std::vector<Predictive>& parts);

/// Converts a predictive from the units in which a model is trained to the units of the user. Regression: the
/// target y becomes shift + scale * y (see rescaled). Events: adds `shift` to the log intensity and does not
/// use `scale`. Classes and counts have no units and are returned unchanged.
SLIMBAYES_EXPORT Predictive in_units(const Predictive& p, double shift, double scale);

/// Returns the negative log likelihood, the mean over rows of -log p(y), in nats; y [n]. Returns nullopt for
/// an intensity: the likelihood of events needs the integral of the intensity over the domain, which a
/// predictive does not hold (events_report in model/events.h computes it).
/// The mean is by `weight` [n] (answers/metrics.h) if it is defined.
SLIMBAYES_EXPORT std::optional<double> mean_nll(const Predictive& p, const at::Tensor& y,
                                                const at::Tensor& weight = {});

/// Returns the negative log likelihood of each row [n]. Throws std::invalid_argument for an intensity.
SLIMBAYES_EXPORT at::Tensor row_nll(const Predictive& p, const at::Tensor& y);

/// What report() needs besides the predictive and the targets. Each task reads only the fields that name it.
struct ReportOptions {
  double level = 0.95;   // level of the interval (regression, counts)
  double target_sd = 1;  // regression: sd of the target, for standardised metrics
  std::optional<Interval> interval =
      {};  // regression: intervals to score; absent: the central ones of the predictive
  std::vector<std::string> levels = {};   // classes: the name of every class; required
  std::optional<PredictionSet> set = {};  // classes: prediction sets to score; absent: no set scores
};

/// Compares a predictive with the targets y [n] and returns the metrics. Regression: MAE, RMSE, NLL, coverage
/// and more (see regression_report). Counts: see counts_report. Classes: accuracy, NLL, calibration errors
/// and more (see classes_report), and the scores of options.set if it is given (see set_report). Throws
/// std::invalid_argument for an intensity (events_report in model/events.h scores events), and unless
/// `levels` has one name per class. With `weight` [n], each > 0, a row counts as so many equal rows in every
/// mean and share.
SLIMBAYES_EXPORT Evaluation report(const Predictive& p, const at::Tensor& y, const ReportOptions& options,
                                   const at::Tensor& weight = {});

/// Returns scores for out-of-distribution detection by name, [n] each. A larger score means farther from the
/// training data.
///   regression           "epistemic_sd" or "total_sd", whichever `score` names; no score if `score` is ""
///   classes              "mutual_information", "entropy" and "max_softmax" (1 - the largest probability:
///                        maximum softmax probability, Hendrycks and Gimpel 2017)
///   counts, intensities  "log_rate_sd", the sd of the log rate
/// Throws std::invalid_argument if `score` is any other name for a regression; the other tasks ignore
/// `score`.
SLIMBAYES_EXPORT Scores scores(const Predictive& p, const std::string& score);

/// Returns one text per row [n], which names the first number of the predictive that is NaN or infinite in
/// that row, for example "sd is inf". The text is "" if all numbers of the row are finite. A regression is
/// checked in the order mean, total sd, aleatoric sd, epistemic sd; other tasks have corresponding numbers.
/// The ends of `interval` are checked last if it is given. Use it to leave out rows that have no usable
/// predictive.
SLIMBAYES_EXPORT std::vector<std::string> non_finite(const Predictive& p,
                                                     const std::optional<Interval>& interval = {});

}  // namespace slimbayes
