#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <vector>

namespace slimbayes {

/// Right-censored times of n rows: the time of the event, or the last time at which the row was seen without
/// it. The reason why a row is censored must be independent of its time; all functions of these data assume
/// this. Times that are equal are tied, and an event comes before a censoring at the same time.
struct SurvivalTimes {
  at::Tensor time;   // [n] finite
  at::Tensor event;  // [n] of any type: 1 (true) if the event was observed, 0 if the row is censored
};

/// Returns these data with the time in float64 and the event as bool, both contiguous on the CPU. Throws
/// std::invalid_argument, which names `function`, unless both are [n], n > 0, each time is finite and each
/// event 0 or 1.
SurvivalTimes checked_survival(const SurvivalTimes& data, std::string_view function);

/// An estimate of P(T > t): a step function, which is 1 before the first time and falls at times of events.
struct SurvivalCurve {
  std::vector<double> time;      // the distinct times of events and censorings, ascending
  std::vector<double> events;    // number (sum of weights) of events at each time
  std::vector<double> at_risk;   // that of rows with at least this time
  std::vector<double> survival;  // P(T > time)
  /// Greenwood's variance of log survival, the sum of events / (at_risk (at_risk - events)); the term in
  /// which the curve falls to 0 is left out.
  std::vector<double> log_var;
  /// The ends of the pointwise confidence interval of survival, exp(-exp(log(-log S) -+ z sd / log S)) with
  /// sd^2 = log_var, which lies in [0, 1] (Borgan and Liestol 1990, Scandinavian Journal of Statistics 17).
  /// Where the curve is 1 or 0 the interval is that point, since the estimate of its variance says nothing
  /// there. Only kaplan_meier() has them.
  std::vector<double> lower, upper;

  /// Returns the place in these vectors of the last time <= t; nothing if t is before the first time.
  std::optional<size_t> place(double t) const;
  /// Returns P(T > t). Nothing if t is beyond the last time and the curve has not come down to 0: the data do
  /// not say where it goes.
  std::optional<double> at(double t) const;
};

/// Returns the estimate of Kaplan and Meier (1958), the product of 1 - events / at_risk over the times up to
/// t, with intervals of this level. A row of `weight` [n] w counts as w equal rows (answers/row_mean.h).
/// O(n log n). Throws std::invalid_argument as checked_survival and unless 0 < level < 1.
SurvivalCurve kaplan_meier(const SurvivalTimes& data, const at::Tensor& weight = {}, double level = 0.95);

/// Returns the estimate of P(C > t) for the time C at which a row would be censored: that of Kaplan and Meier
/// with events and censorings exchanged, where rows with an event are not at risk of a censoring at the same
/// time. Its inverse weighs the rows that were seen (IPCW).
SurvivalCurve censoring_curve(const SurvivalTimes& data, const at::Tensor& weight = {});

/// Returns 1 / P(C > t). Throws std::invalid_argument, which names `function`, where the curve is 0 or
/// unknown: scores must stop before.
double inverse_censoring(const SurvivalCurve& censoring, double t, std::string_view function);

}  // namespace slimbayes
