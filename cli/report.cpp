#include "cli/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "cli/edge.h"
#include "cli/messages.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

using Numbers = std::map<std::string, double>;

std::string number(const Numbers& metrics, const std::string& key) {
  const auto found = metrics.find(key);
  return found == metrics.end() ? "" : rounded(found->second);
}

/// Returns the name of a forecast without a model. If the forecast has no value for some of the n windows,
/// the number of windows for which it has one follows.
std::string forecast_label(const ForecastScores& forecast, int64_t n) {
  const std::string some = forecast.n == n ? "" : fmt::format(", {} of them", forecast.n);
  return forecast_name(forecast) + some;
}

/// Appends to `rows` the scores of the forecasts without a model (persistence and seasonal persistence), one
/// line for each forecast and metric. If `scaled`, each line also has the score on the standardised target.
void add_forecasts(const Evaluation& report, bool scaled, std::vector<std::vector<Cell>>& rows) {
  for (const auto* forecast : {&report.persistence, &report.seasonal_persistence}) {
    if (!*forecast) continue;
    const Numbers scores = field_numbers(**forecast);
    for (const char* metric : {"accuracy", "mae", "rmse"}) {
      if (!scores.contains(metric)) continue;
      rows.push_back({{fmt::format("{} of {}", metric, forecast_label(**forecast, report.n))},
                      {number(scores, metric)}});
      if (scaled) rows.back().push_back({number(scores, std::string(metric) + "_standardized")});
    }
  }
}

/// Returns the confusion matrix of a classification as a text table, one row per true class. For more than
/// ten classes, returns a line that refers to --json.
std::string confusion_table(const ClassScores& scores) {
  constexpr size_t kMostShown = 10;
  const auto& counts = scores.confusion.value();
  if (counts.size() > kMostShown)
    return fmt::format("\nthe confusion matrix of {} classes: --json\n", counts.size());
  std::vector<std::vector<Cell>> rows = {{{"true \\ predicted"}}};
  for (size_t i = 0; i < counts.size(); ++i) {
    rows[0].push_back({class_name(scores.classes.at(i))});
    rows.push_back({{class_name(scores.classes.at(i))}});
    for (int64_t count : counts[i]) rows.back().push_back({fmt::format("{}", count)});
  }
  return "\n" + text_table(rows);
}

}  // namespace

std::string label_of(const std::string& key, const Evaluation& report, double level, std::string_view noun) {
  if (key == "coverage" || key == "width" || key == "interval_score")
    return fmt::format("{} at {:g} %", key, 100 * level);
  if (key == "coverage_online") return fmt::format("coverage at {:g} %, following the targets", 100 * level);
  if (key == "coverage_epistemic" || key == "width_epistemic")
    return fmt::format("{} at {:g} %, epistemic sd alone", key.substr(0, key.find('_')), 100 * level);
  if (key == "base_rate")
    return fmt::format("base_rate, {} for every {}", class_name(report.classes.value().base_class),
                       report.pixels ? "pixel" : noun);
  if (key == "miou") return "miou, mean intersection over union";
  if (key == "mpa") return "mpa, mean accuracy of the classes";
  if (key == "mean_entropy" || key == "mean_mutual_information") return key + ", nats";
  if (key == "f1") return fmt::format("f1 of {}", class_name(report.classes.value().classes.at(1)));
  if (key == "set_size") return "set_size, classes in a set";
  if (key == "empty") return "empty, share of sets without a class";
  if (key == "f1_macro") return "f1_macro, mean over classes";
  if (key == "brier") return "brier, summed over classes";
  return key;
}

std::vector<std::string> metrics_of(const Numbers& metrics) {
  std::vector<std::string> present;
  const auto add = [&](const char* name) {
    if (metrics.contains(name)) present.emplace_back(name);
  };
  for (const char* name : {"accuracy", "miou",  "mpa",   "base_rate",      "f1",          "f1_macro",
                           "mae",      "rmse",  "nll",   "nll_constant",   "nll_uniform", "brier",
                           "ece",      "mce",   "auroc", "aupr",           "crps",        "coverage",
                           "set_size", "empty", "width", "interval_score", "expected",    "expected_error"})
    add(name);
  for (const char* name : {"mean_entropy", "mean_mutual_information"}) add(name);
  for (const char* name : {"coverage_online", "coverage_epistemic", "width_epistemic"}) add(name);
  return present;
}

std::string report_table(const Evaluation& report, double level, std::string_view noun,
                         const std::optional<EpistemicReport>& epistemic) {
  Numbers metrics = field_numbers(report);
  if (epistemic) metrics.merge(field_numbers(*epistemic));
  const bool scaled = report.numbers && report.numbers->standardized;
  const std::string worth =
      report.effective_rows ? fmt::format(", by weight worth {:.0f}", *report.effective_rows) : "";
  std::vector<std::vector<Cell>> rows = {{{counted(report.n, noun) + worth}}};
  if (scaled) rows[0].insert(rows[0].end(), {{"target's units"}, {"standardised"}});
  for (const std::string& key : metrics_of(metrics)) {
    rows.push_back({{label_of(key, report, level, noun)}, {number(metrics, key)}});
    if (scaled) rows.back().push_back({number(metrics, key + "_standardized")});
    if (key == "coverage" && report.inputs)
      rows.push_back(
          {{fmt::format("coverage of the {} different inputs, each once", report.inputs->different_inputs)},
           {rounded(report.inputs->coverage_of_inputs)}});
  }
  add_forecasts(report, scaled, rows);
  return text_table(rows) +
         (report.classes && report.classes->confusion ? confusion_table(*report.classes) : "");
}

std::string forecasts_text(const Evaluation& report, std::string_view part) {
  const bool classes = report.classes.has_value();
  std::string text;
  for (const auto* forecast : {&report.persistence, &report.seasonal_persistence}) {
    if (!*forecast) continue;
    if (text.empty())
      text = fmt::format("{} windows: {} {}", part, classes ? "accuracy" : "mae",
                         rounded(classes ? report.classes->accuracy : report.numbers.value().mae));
    text += fmt::format(", of {} {}", forecast_label(**forecast, report.n),
                        rounded((classes ? (*forecast)->accuracy : (*forecast)->mae).value()));
  }
  return text.empty() ? "" : text + "\n";
}

std::string forecast_name(const ForecastScores& forecast) {
  return forecast.season ? fmt::format("seasonal persistence ({})", *forecast.season) : "persistence";
}

std::string class_name(const std::string& name) { return shown(in_plain_quotes(name)); }

void print(const std::string& text) {
  if (!print_result(text)) {
    throw std::runtime_error("standard output could not be written; it is closed or its disk is full");
  }
}

void print(const json& object) {
  print(
      data_for(STDOUT_FILENO, with_flags(object).dump(2, ' ', false, json::error_handler_t::replace) + "\n"));
}

}  // namespace slimbayes::cli
