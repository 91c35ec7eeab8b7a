#include "slimbayes/report/forecast_facts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/report/wording.h"

namespace slimbayes {
namespace {

constexpr size_t kMostSeries = 4;
constexpr std::ptrdiff_t kMostSteps = 300;

/// Returns the windows of each series in order of time, those with most windows first.
std::vector<std::vector<size_t>> windows_by_series(const WindowTable& w) {
  std::map<int64_t, std::vector<size_t>> by_series;
  for (size_t i = 0; i < w.selected.size(); ++i) {
    const int64_t place = w.windows->last[static_cast<size_t>(w.selected[i])];
    by_series[w.windows->number[static_cast<size_t>(place)]].push_back(i);
  }
  std::vector<std::vector<size_t>> series;
  for (auto& item : by_series) series.push_back(std::move(item.second));
  std::ranges::stable_sort(series, std::greater{}, [](const auto& one) { return one.size(); });
  return series;
}

/// Returns the name of the series of an example: the cells of the group columns.
std::string series_name(const ScoredExamples& s, const WindowTable& w, size_t example) {
  std::string name;
  for (const std::string& group : w.windows->options.group) {
    const Column* column = s.cells->find(group);
    if (column == nullptr) continue;
    name += (name.empty() ? "" : ", ") + cell_text(*column, column->values[example]);
  }
  return name;
}

}  // namespace

std::optional<ForecastFact> forecast_facts(const ScoredExamples& s) {
  const auto* w = std::get_if<WindowTable>(&s.examples);
  if (w == nullptr || are_classes(s.answer())) return std::nullopt;
  const std::vector<double> times = w->windows->forecast_times(w->windows->options), y = list_of(s.y),
                            mean = list_of(mean_and_sd(s.answer()).mean),
                            lower = list_of(s.answers.levels.front().interval->lower),
                            upper = list_of(s.answers.levels.front().interval->upper);
  std::vector<SeriesFact> series;
  size_t inside = 0, shown = 0;
  std::vector<std::vector<size_t>> all = windows_by_series(*w);
  const size_t count = all.size();
  if (count > kMostSeries) all.resize(kMostSeries);
  for (std::vector<size_t>& rows : all) {
    std::ranges::stable_sort(rows, {}, [&](size_t i) { return times[static_cast<size_t>(w->selected[i])]; });
    if (std::ssize(rows) > kMostSteps) rows.erase(rows.begin(), rows.end() - kMostSteps);
    SeriesFact one{series_name(s, *w, rows.front())};
    size_t held = 0;
    for (size_t i : rows) {
      one.time.push_back(times[static_cast<size_t>(w->selected[i])]);
      one.actual.push_back(y[i]);
      one.mean.push_back(mean[i]);
      one.lower.push_back(lower[i]);
      one.upper.push_back(upper[i]);
      held += y[i] >= lower[i] && y[i] <= upper[i] ? 1 : 0;
    }
    one.inside = static_cast<double>(held) / static_cast<double>(rows.size());
    inside += held;
    shown += rows.size();
    series.push_back(std::move(one));
  }
  return ForecastFact{w->windows->calendar,
                      w->windows->step,
                      w->windows->options.horizon,
                      std::move(series),
                      count,
                      fmt::format("Of the {} forecasts shown, {} lie in their {} band.", shown,
                                  percent_text(static_cast<double>(inside) / static_cast<double>(shown)),
                                  percent_text(s.level()))};
}

}  // namespace slimbayes
