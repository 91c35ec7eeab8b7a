// Scores of two forecasts that need no model: the last value, and the value one season before. The model's
// errors are compared with them, because in hourly series the last value is hard to beat. All values are
// cells of the target's column, in its own units.
#include "slimbayes/model/persistence.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {

namespace {

using Values = std::vector<double>;

constexpr double kWeek = 7 * kDay;

double cell_at(const WindowTable& w, const Column& column, int64_t place) {
  return column.values[static_cast<size_t>(w.windows->order[static_cast<size_t>(place)])];
}

/// Returns for each window the last target among its rows that is not missing; NaN if all are. [m]
Values last_known(const WindowTable& w, const Column& target) {
  Values values;
  for (const int64_t i : w.selected) {
    const int64_t last = w.windows->last[static_cast<size_t>(i)],
                  first = last - w.windows->options.window + 1;
    int64_t place = last;
    while (place > first && std::isnan(cell_at(w, target, place))) --place;
    values.push_back(cell_at(w, target, place));
  }
  return values;
}

/// Returns for each window the target of the row whose time is `season` seconds before the time to predict;
/// NaN if the table has no such row or its target is missing. [m]
Values season_before(const WindowTable& w, const Column& target, double season) {
  const Windows& windows = *w.windows;
  const Values forecasts = windows.forecast_times(windows.options);
  Values values;
  for (const int64_t i : w.selected) {
    const int64_t last = windows.last[static_cast<size_t>(i)];
    const auto series = std::ranges::lower_bound(windows.number, windows.number[static_cast<size_t>(last)]);
    const auto from = windows.time.begin() + (series - windows.number.begin());
    const auto to = windows.time.begin() + last + 1;
    const double forecast = forecasts[static_cast<size_t>(i)], wanted = forecast - season;
    const double near = time_tolerance(season, forecast);
    const auto found = std::lower_bound(from, to, wanted - near);
    const bool there = found != to && *found <= wanted + near;
    values.push_back(there ? cell_at(w, target, found - windows.time.begin()) : kMissing);
  }
  return values;
}

/// Returns the number of time steps of the series in a season of `season` seconds. Returns nothing if it is
/// not a whole number of at least two steps, or if it is below the horizon, because the value one season
/// before would not be known at the time of the forecast.
std::optional<int64_t> steps_of(const Windows& windows, double season) {
  const double steps = std::round(season / windows.step);
  const double least = static_cast<double>(std::max<int64_t>(2, windows.options.horizon));
  const bool whole = std::abs(steps * windows.step - season) <= time_tolerance(season, 0);
  constexpr double kMost = 0x1p53;  // a damaged file may have a step of nearly 0
  if (!windows.calendar || !whole || !(steps >= least && steps <= kMost)) return std::nullopt;
  return static_cast<int64_t>(steps);
}

/// Returns the mean of |error| by the weights, of which there is one for each error; none: each counts once.
double mean_size(const Values& error, const Values& weight) {
  double sum = 0, total = weight.empty() ? static_cast<double>(error.size()) : 0;
  for (const double w : weight) total += w;
  for (size_t i = 0; i < error.size(); ++i) sum += std::abs(error[i]) * (weight.empty() ? 1 : weight[i]);
  return sum / total;
}

double root_mean_square(const Values& error, const Values& weight) {
  double squares = 0, total = weight.empty() ? static_cast<double>(error.size()) : 0;
  for (const double w : weight) total += w;
  for (size_t i = 0; i < error.size(); ++i)
    squares += (weight.empty() ? error[i] * error[i] : error[i] * error[i] * weight[i]) / total;
  return std::sqrt(squares);
}

/// Returns the model's answer minus the target, for the MAE: of numbers that of the median, as in the report
/// (answers/metrics.h), of counts that of the mean; for classes 1 where they differ, else 0. [m]
Values model_errors(const Predictive& answer, const at::Tensor& y) {
  at::Tensor error;
  if (const auto* p = std::get_if<Regression>(&answer)) error = median(*p) - y;
  if (const auto* p = std::get_if<Counts>(&answer)) error = mean(*p) - y;
  if (const auto* p = std::get_if<Classes>(&answer)) error = predicted_class(*p).ne(y);
  const at::Tensor flat = error.to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// Returns the scores of a forecast without a model and of the model on the same windows; nothing if the
/// forecast has no values. `values` [m] are the forecast's values (NaN: none for this window), `truth` [m]
/// the target's cells, `errors` [m] the errors of the model, `weights` [m] those of the windows, or none.
std::optional<ForecastScores> scores_of(const Values& values, const Values& truth, const Values& errors,
                                        const Values& weights, const Task& task) {
  const bool classes = task.kind == TaskKind::classification;
  Values own, model, weight;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    own.push_back(classes ? (values[i] == truth[i] ? 0 : 1) : values[i] - truth[i]);
    model.push_back(errors[i]);
    if (!weights.empty()) weight.push_back(weights[i]);
  }
  if (own.empty()) return std::nullopt;
  ForecastScores out{.n = std::ssize(own)};
  if (classes) {
    out.accuracy = 1 - mean_size(own, weight);
    out.model_accuracy = 1 - mean_size(model, weight);
    return out;
  }
  out.mae = mean_size(own, weight);
  out.rmse = root_mean_square(own, weight);
  if (task.kind == TaskKind::regression) {
    const double sd = target_sd(task);
    out.mae_standardized = *out.mae / sd;
    out.rmse_standardized = *out.rmse / sd;
  }
  out.model_mae = mean_size(model, weight);
  return out;
}

}  // namespace

void add_persistence(const InputEncoder& encoder, const WindowTable& w, const Predictive& answer,
                     Evaluation& report, const at::Tensor& weight) {
  const Column& target = *w.table->find(target_of(encoder));
  const Task& task = schema_of(encoder).task;
  const Values errors = model_errors(answer, target_as_given(encoder, w));
  Values truth, weights;
  if (weight.defined()) {
    const at::Tensor own = weight.to(at::kDouble).contiguous();
    weights.assign(own.const_data_ptr<double>(), own.const_data_ptr<double>() + own.numel());
  }
  for (const int64_t i : w.selected)
    truth.push_back(cell_at(w, target, w.windows->target[static_cast<size_t>(i)]));
  report.persistence = scores_of(last_known(w, target), truth, errors, weights, task);
  for (const double season : {kDay, kWeek}) {
    const std::optional<int64_t> steps = steps_of(*w.windows, season);
    if (!steps) continue;
    report.seasonal_persistence = scores_of(season_before(w, target, season), truth, errors, weights, task);
    if (!report.seasonal_persistence) continue;
    report.seasonal_persistence->season = counted(*steps, "step");
    break;
  }
}

std::vector<std::string> persistence_notes(const Evaluation& report, const std::string& where) {
  constexpr int64_t kFewest = 10;
  std::vector<std::string> notes;
  for (const auto* forecast : {&report.persistence, &report.seasonal_persistence}) {
    if (!*forecast || (*forecast)->n < kFewest) continue;
    const ForecastScores& scores = **forecast;
    const bool classes = scores.accuracy.has_value();
    const double own = (classes ? scores.accuracy : scores.mae).value(),
                 model = (classes ? scores.model_accuracy : scores.model_mae).value();
    if (classes ? model > own : model < own) continue;
    const std::string what = scores.season ? fmt::format("the target {} before", *scores.season)
                                           : "the last target that a window sees";
    const std::string some = fmt::format("{} of {} that have such a forecast", scores.n, where);
    notes.push_back(fmt::format("on {} the model's {}, {:.4g}, is no better than that of {}, {:.4g}",
                                scores.n == report.n ? where : some, classes ? "accuracy" : "MAE", model,
                                what, own));
  }
  return notes;
}

std::string windows_of_part(int64_t n, const std::string& part) {
  return fmt::format("the {} {}window{}", n, part.empty() ? "" : part + " ", n == 1 ? "" : "s");
}

}  // namespace slimbayes
