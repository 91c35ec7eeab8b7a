#include "cli/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1)) : NAN};
}

/// Returns the mean and sd of a metric over the runs.
Spread spread(const MethodRuns& outcome, const std::string& metric) {
  std::vector<double> values;
  for (const MethodRun& run : outcome.runs) {
    const auto found = run.report.find(metric);
    values.push_back(found != run.report.end() && found->is_number() ? found->get<double>() : NAN);
  }
  return spread_of(values);
}

/// Returns the mean seconds of the runs; NaN for a forecast without a model.
double mean_seconds(const MethodRuns& outcome) {
  std::vector<double> values;
  for (const MethodRun& run : outcome.runs) values.push_back(run.fit ? run.fit->seconds : NAN);
  return spread_of(values).mean;
}

const json* first_report(const std::vector<MethodRuns>& outcomes) {
  for (const MethodRuns& outcome : outcomes) {
    if (!outcome.runs.empty()) return &outcome.runs.front().report;
  }
  return nullptr;
}

/// Returns the names of the metrics to show, taken from the first report, because all reports are on the same
/// task. Minor metrics are left out.
std::vector<std::string> shown_metrics(const std::vector<MethodRuns>& outcomes) {
  const json* first = first_report(outcomes);
  if (first == nullptr) return {};
  std::vector<std::string> names = metrics_of(*first);
  for (const char* minor : {"interval_score", "mce", "aupr", "nll_constant", "nll_uniform", "base_rate"})
    std::erase(names, minor);
  if (first->contains("f1")) std::erase(names, "f1_macro");
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
      const auto n = run.report.at("n").get<int64_t>();
      least = std::min(least, n);
      most = std::max(most, n);
    }
  if (most == 0) return "";
  return least == most ? fmt::format("scored on {} test examples\n", most)
                       : fmt::format("scored on {} to {} test examples a split\n", least, most);
}

/// Returns " (40 of 206)" for a forecast that has values for fewer examples than the methods; else "".
std::string on_fewer(const MethodRuns& forecast, const json& report) {
  const json &own = forecast.runs.at(0).report.at("n"), &all = report.at("n");
  return own == all ? "" : fmt::format(" ({} of {})", own.get<int64_t>(), all.get<int64_t>());
}

/// Returns the label of a forecast without a model: "persistence" or, with the length of its season,
/// "seasonal persistence (24 steps)".
std::string forecast_label(const MethodRuns& forecast) {
  const json& scores = forecast.runs.at(0).report;
  return scores.contains("season")
             ? fmt::format("seasonal persistence ({})", scores.at("season").get<std::string>())
             : forecast.method;
}

/// Returns lines below the table that explain the metrics of a classification; "" for other tasks.
std::string legend(const json& report) {
  std::string text;
  if (report.contains("base_rate"))
    text += fmt::format(
        "\nbase rate, the accuracy of {} (the commonest class of the test rows) for every row: {}\n",
        class_name(report), rounded(report["base_rate"].get<double>()));
  if (report.contains("f1")) text += fmt::format("f1: of the class {}\n", class_name(report, 1));
  if (report.contains("brier")) text += "brier: summed over the classes, 0 to 2\n";
  return text;
}

/// Returns the note with "#" in place of each number, so that notes that differ only in numbers become equal.
/// Names in quotes keep their digits.
std::string without_numbers(const std::string& note) {
  std::string out;
  bool quoted = false, in_number = false;
  for (size_t i = 0; i < note.size(); ++i) {
    const char c = note[i];
    if (c == '\'') quoted = !quoted;
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool goes_on = in_number && (c == '.' || c == 'e' || c == '+' || c == '-') && i + 1 < note.size() &&
                         std::isdigit(static_cast<unsigned char>(note[i + 1])) != 0;
    if (quoted || !(digit || goes_on)) {
      out += c;
      in_number = false;
      continue;
    }
    if (!in_number) out += '#';
    in_number = true;
  }
  return out;
}

}  // namespace

std::vector<SharedNote> shared_notes(const std::vector<MethodRuns>& outcomes) {
  std::vector<SharedNote> notes;
  std::set<std::string> seen;
  const auto has = [](const MethodRun& run, const std::string& key) {
    return std::ranges::any_of(run.fit->notes,
                               [&](const std::string& note) { return without_numbers(note) == key; });
  };
  for (const MethodRuns& outcome : outcomes) {
    for (const MethodRun& run : outcome.runs) {
      for (const std::string& note : run.fit->notes) {
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
  std::vector<const MethodRuns*> fitted;
  std::vector<std::vector<Cell>> rows = {{{"method"}}};
  for (const MethodRuns& outcome : outcomes) {
    if (!outcome.failure.empty()) continue;
    fitted.push_back(&outcome);
    rows.push_back({{outcome.method}});
  }
  const size_t methods = fitted.size();
  const std::vector<MethodRuns> forecasts = forecasts_in(outcomes);
  for (const MethodRuns& forecast : forecasts) {
    fitted.push_back(&forecast);
    rows.push_back({{forecast_label(forecast) + on_fewer(forecast, *first_report(outcomes))}});
  }
  for (const std::string& metric : shown_metrics(outcomes)) {
    std::vector<Spread> spreads;
    std::vector<double> means;
    for (const MethodRuns* outcome : fitted) {
      spreads.push_back(spread(*outcome, metric));
      means.push_back(spreads.back().mean);
    }
    const NumberFormat format(means);
    std::vector<std::string> shown;
    for (size_t i = 0; i < means.size(); ++i) {
      const bool ranked = i < methods || on_fewer(*fitted[i], *first_report(outcomes)).empty();
      shown.push_back(std::isnan(means[i]) || !ranked ? "-" : format(means[i]));
    }
    const std::vector<bool> best = best_of(shown, metric, level);
    const std::vector<std::string> cells = aligned(spreads, format);
    rows[0].push_back({metric});
    for (size_t i = 0; i < cells.size(); ++i)
      rows[i + 1].push_back({std::isnan(means[i]) ? "-" : cells[i], best[i]});
  }
  rows[0].insert(rows[0].end(), {{"seconds"}, {"fits"}});
  for (size_t i = 0; i < fitted.size(); ++i) {
    const double seconds = mean_seconds(*fitted[i]);
    rows[i + 1].push_back({std::isnan(seconds) ? "-" : fmt::format("{:.1f}", seconds)});
    rows[i + 1].push_back({std::isnan(seconds) ? "-" : fmt::format("{}", fitted[i]->runs.size())});
  }
  const json* first = first_report(outcomes);
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
      auto &mean = entry.mean.emplace(), &sd = entry.sd.emplace();
      for (const std::string& metric : metrics) {
        const Spread s = spread(outcome, metric);
        mean[metric] = s.mean;
        sd[metric] = s.sd;
      }
    }
    report.methods.push_back(std::move(entry));
  }
  for (const SharedNote& note : shared_notes(outcomes))
    report.notes.push_back({note.text, note.of.empty() ? "all" : note.of});
  for (const MethodRuns& forecast : forecasts_in(outcomes)) {
    if (!report.forecasts) report.forecasts.emplace();
    (*report.forecasts)[forecast.method] = forecast.runs.front();
  }
  return report;
}

}  // namespace slimbayes::cli
