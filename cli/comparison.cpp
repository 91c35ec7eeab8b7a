#include "cli/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1)) : NAN};
}

/// A line of the table: a method with its fits, or a forecast without a model.
struct Line {
  std::string label;
  std::vector<std::map<std::string, double>> scores;  // of each run
  std::vector<double> seconds = {};                   // of each fit
  bool ranked = true;  // false for a forecast with values for fewer examples than the methods
};

Line line_of(const MethodRuns& outcome) {
  Line line{outcome.method, {}};
  for (const MethodRun& run : outcome.runs) {
    line.scores.push_back(field_numbers(run.report));
    line.seconds.push_back(run.fit.seconds);
  }
  return line;
}

/// Returns the line of a forecast. `n` is the number of examples that the methods are scored on.
Line line_of(const ForecastScores& forecast, int64_t n) {
  const bool all = forecast.n == n;
  return {forecast_name(forecast) + (all ? "" : fmt::format(" ({} of {})", forecast.n, n)),
          {field_numbers(forecast)},
          {},
          all};
}

/// Returns the mean and sd of a metric over the runs.
Spread spread(const Line& line, const std::string& metric) {
  std::vector<double> values;
  for (const auto& scores : line.scores) {
    const auto found = scores.find(metric);
    values.push_back(found != scores.end() ? found->second : NAN);
  }
  return spread_of(values);
}

const Evaluation* first_report(const std::vector<MethodRuns>& outcomes) {
  for (const MethodRuns& outcome : outcomes) {
    if (!outcome.runs.empty()) return &outcome.runs.front().report;
  }
  return nullptr;
}

/// Returns the names of the metrics to show, taken from the first report, because all reports are on the same
/// task. Minor metrics are left out.
std::vector<std::string> shown_metrics(const std::vector<MethodRuns>& outcomes) {
  const Evaluation* first = first_report(outcomes);
  if (first == nullptr) return {};
  std::vector<std::string> names = metrics_of(field_numbers(*first));
  for (const char* minor : {"interval_score", "mce", "aupr", "nll_constant", "nll_uniform", "base_rate"})
    std::erase(names, minor);
  if (first->classes && first->classes->f1) std::erase(names, "f1_macro");
  return names;
}

/// Returns a number by which methods are ranked; the least is the best: the negative mean for accuracy, F1,
/// AUROC, mIoU and MPA, the distance to `level` for the coverage, else the mean. Returns nothing for the
/// width, the expected count and mean entropies, which do not rank methods. The mean is parsed from the
/// printed text `shown`, so that differences that a reader cannot see do not count; "-" ranks nothing.
std::optional<double> badness(const std::string& shown, const std::string& metric, double level) {
  if (shown == "-") return std::nullopt;
  const double mean = std::strtod(shown.c_str(), nullptr);
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, metric) != names.end();
  };
  if (is_one_of({"width", "expected"}) || metric.starts_with("mean_") || !std::isfinite(mean))
    return std::nullopt;
  if (is_one_of({"accuracy", "auroc", "miou", "mpa"}) || metric.starts_with("f1")) return -mean;
  return metric == "coverage" ? std::abs(mean - level) : mean;
}

/// Returns for each printed mean whether it is the best one. None is the best if all are equal.
std::vector<bool> best_of(const std::vector<std::string>& shown, const std::string& metric, double level) {
  std::vector<std::optional<double>> all;
  for (const std::string& text : shown) all.push_back(badness(text, metric, level));
  std::optional<double> least, most;
  for (const auto& one : all) {
    if (!one) continue;
    least = std::min(least.value_or(*one), *one);
    most = std::max(most.value_or(*one), *one);
  }
  std::vector<bool> best;
  for (const auto& one : all) best.push_back(one && *least < *most && *one == *least);
  return best;
}

/// Returns "scored on 206 test examples", or the least and the largest number over the splits.
std::string scored_on(const std::vector<MethodRuns>& outcomes) {
  int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
  for (const MethodRuns& outcome : outcomes)
    for (const MethodRun& run : outcome.runs) {
      least = std::min(least, run.report.n);
      most = std::max(most, run.report.n);
    }
  if (most == 0) return "";
  return least == most ? fmt::format("scored on {} test examples\n", most)
                       : fmt::format("scored on {} to {} test examples a split\n", least, most);
}

/// Returns lines below the table that explain the metrics of a classification; "" for other tasks.
std::string legend(const Evaluation& report) {
  if (!report.classes) return "";
  const ClassScores& scores = *report.classes;
  return fmt::format(
             "\nbase rate, the accuracy of {} (the commonest class of the test rows) for every row: {}\n",
             class_name(scores.base_class), rounded(scores.base_rate)) +
         (scores.f1 ? fmt::format("f1: of the class {}\n", class_name(scores.classes.at(1))) : "") +
         "brier: summed over the classes, 0 to 2\n";
}

}  // namespace

std::vector<SharedNote> shared_notes(const std::vector<MethodRuns>& outcomes) {
  std::vector<SharedNote> notes;
  std::set<std::string> seen;
  const auto has = [](const MethodRun& run, const std::string& key) {
    return std::ranges::any_of(run.fit.notes,
                               [&](const std::string& note) { return without_numbers(note) == key; });
  };
  for (const MethodRuns& outcome : outcomes) {
    for (const MethodRun& run : outcome.runs) {
      for (const std::string& note : run.fit.notes) {
        const std::string key = without_numbers(note);
        if (!seen.insert(key).second) continue;
        std::vector<std::string> of;
        bool all = true;
        for (const MethodRuns& other : outcomes) {
          const auto fits =
              std::ranges::count_if(other.runs, [&](const MethodRun& r) { return has(r, key); });
          const auto runs = std::ssize(other.runs);
          all = all && fits == runs;
          if (fits > 0)
            of.push_back(other.method + (fits < runs ? fmt::format(" ({} of {} fits)", fits, runs) : ""));
        }
        notes.push_back({note, all ? "" : fmt::format("{}", fmt::join(of, ", "))});
      }
    }
  }
  return notes;
}

std::string comparison_table(const std::vector<MethodRuns>& outcomes, double level) {
  const Evaluation* first = first_report(outcomes);
  std::vector<Line> lines;
  for (const MethodRuns& outcome : outcomes)
    if (outcome.failure.empty()) lines.push_back(line_of(outcome));
  for (const auto& [name, forecast] : forecasts_in(outcomes)) lines.push_back(line_of(forecast, first->n));
  std::vector<std::vector<Cell>> rows = {{{"method"}}};
  for (const Line& line : lines) rows.push_back({{line.label}});
  for (const std::string& metric : shown_metrics(outcomes)) {
    std::vector<Spread> spreads;
    std::vector<double> means;
    for (const Line& line : lines) {
      spreads.push_back(spread(line, metric));
      means.push_back(spreads.back().mean);
    }
    const NumberFormat format(means);
    std::vector<std::string> shown;
    for (size_t i = 0; i < means.size(); ++i)
      shown.push_back(std::isnan(means[i]) || !lines[i].ranked ? "-" : format(means[i]));
    const std::vector<bool> best = best_of(shown, metric, level);
    const std::vector<std::string> cells = aligned(spreads, format);
    rows[0].push_back({metric});
    for (size_t i = 0; i < cells.size(); ++i)
      rows[i + 1].push_back({std::isnan(means[i]) ? "-" : cells[i], best[i]});
  }
  rows[0].insert(rows[0].end(), {{"seconds"}, {"fits"}});
  for (size_t i = 0; i < lines.size(); ++i) {
    const double seconds = spread_of(lines[i].seconds).mean;
    rows[i + 1].push_back({std::isnan(seconds) ? "-" : fmt::format("{:.1f}", seconds)});
    rows[i + 1].push_back({std::isnan(seconds) ? "-" : fmt::format("{}", lines[i].seconds.size())});
  }
  return text_table(rows) + scored_on(outcomes) +
         (first == nullptr ? "" : fitted_to(STDOUT_FILENO, legend(*first)));
}

ComparisonReport comparison_report(const std::vector<MethodRuns>& outcomes) {
  ComparisonReport report;
  const std::vector<std::string> metrics = shown_metrics(outcomes);
  for (const MethodRuns& outcome : outcomes) {
    ComparedMethod entry{outcome.method, outcome.runs};
    if (!outcome.failure.empty()) entry.failed = without_functions(outcome.failure);
    if (!outcome.runs.empty() && !metrics.empty()) {
      const Line line = line_of(outcome);
      auto &mean = entry.mean.emplace(), &sd = entry.sd.emplace();
      for (const std::string& metric : metrics) {
        const Spread s = spread(line, metric);
        mean[metric] = s.mean;
        sd[metric] = s.sd;
      }
    }
    report.methods.push_back(std::move(entry));
  }
  for (const SharedNote& note : shared_notes(outcomes))
    report.notes.push_back({note.text, note.of.empty() ? "all" : note.of});
  if (auto forecasts = forecasts_in(outcomes); !forecasts.empty()) report.forecasts = std::move(forecasts);
  return report;
}

}  // namespace slimbayes::cli
