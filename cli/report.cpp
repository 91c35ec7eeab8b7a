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

std::string number(const json& report, const std::string& key) {
  const auto found = report.find(key);
  if (found == report.end()) return "";
  return found->is_number() ? rounded(found->get<double>()) : "nan";
}

constexpr int kDigits = 9, kDigitsOfSd = 7, kEveryDigit = 17;

int exponent_of(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

/// Returns x with `digits` significant digits: rounded to the nearest number for side 0, down for -1, up for
/// 1.
double shortened(double x, int digits, int side) {
  if (!std::isfinite(x) || x == 0 || digits >= kEveryDigit) return x;
  const auto parsed = [&](double value) {
    return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
  };
  const double nearest = parsed(x);
  if (side == 0 || (side < 0 ? nearest <= x : nearest >= x)) return nearest;
  return parsed(nearest + side * std::pow(10.0, exponent_of(x) - digits + 1));
}

/// Rounds the numbers of a column to nine significant digits. A number next to a small sd keeps more: enough
/// to resolve the sd to seven digits. Lower bounds are rounded down and upper bounds up, so that rounding
/// never narrows an interval. `sd` holds the sd of each row; nullptr: the table has none.
void shorten(Column& column, const std::vector<double>* sd) {
  if (column.kind != ColumnKind::numeric) return;
  const auto is = [&](const std::string& name) {
    return column.name == name || column.name.starts_with(name + "_");
  };
  const int side = is("lower") ? -1 : is("upper") ? 1 : 0;
  for (size_t i = 0; i < column.values.size(); ++i) {
    double& x = column.values[i];
    const bool beside_sd = sd != nullptr && std::isfinite((*sd)[i]) && (*sd)[i] > 0 && x != 0;
    const int of_sd = beside_sd ? exponent_of(x) - exponent_of((*sd)[i]) + kDigitsOfSd : 0;
    x = shortened(x, std::max(kDigits, of_sd), side);
  }
}

/// Returns whether the file is a model, judging by its name, else by its content: a model file starts with
/// the size of its header (8 bytes), then the header, whose first character is "{". Opens only regular files,
/// because reading from a pipe would consume its bytes.
bool is_model(const std::string& path) {
  constexpr size_t kHead = 9;
  if (std::filesystem::path(path).extension() == ".safetensors") return true;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  char head[kHead] = {};
  std::ifstream(path, std::ios::binary).read(head, kHead);
  uint64_t size = 0;
  for (size_t i = kHead - 1; i-- > 0;) size = size << 8 | static_cast<unsigned char>(head[i]);
  const uint64_t all = std::filesystem::file_size(path, unknown);
  return head[kHead - 1] == '{' && size > 0 && !unknown && size < all;
}

/// Returns the label of a metric in the table: its name, and for some metrics an explanation, such as the
/// level of the interval.
std::string label_of(const std::string& key, const json& report, double level, std::string_view noun) {
  if (key == "coverage" || key == "width" || key == "interval_score")
    return fmt::format("{} at {:g} %", key, 100 * level);
  if (key == "coverage_epistemic" || key == "width_epistemic")
    return fmt::format("{} at {:g} %, epistemic sd alone", key.substr(0, key.find('_')), 100 * level);
  if (key == "base_rate")
    return fmt::format("base_rate, {} for every {}", class_name(report),
                       report.contains("miou") ? "pixel" : noun);
  if (key == "miou") return "miou, mean intersection over union";
  if (key == "mpa") return "mpa, mean accuracy of the classes";
  if (key == "mean_entropy" || key == "mean_mutual_information") return key + ", nats";
  if (key == "f1") return fmt::format("f1 of {}", class_name(report, 1));
  if (key == "set_size") return "set_size, classes in a set";
  if (key == "empty") return "empty, share of sets without a class";
  if (key == "f1_macro") return "f1_macro, mean over classes";
  if (key == "brier") return "brier, summed over classes";
  return key;
}

constexpr const char* kForecasts[] = {"persistence", "seasonal_persistence"};

/// Returns the name of a forecast without a model, such as "persistence" or "seasonal persistence (24
/// steps)". If the forecast has no value for some windows, the number of windows for which it has one
/// follows.
std::string forecast_name(const std::string& key, const json& report) {
  const json& scores = report.at(key);
  std::string name = scores.contains("season")
                         ? fmt::format("seasonal persistence ({})", scores.at("season").get<std::string>())
                         : "persistence";
  if (scores.at("n") != report.at("n")) name += fmt::format(", {} of them", scores.at("n").get<int64_t>());
  return name;
}

/// Appends to `rows` the scores of the forecasts without a model (persistence and seasonal persistence), one
/// line for each forecast and metric. If `scaled`, each line also has the score on the standardised target.
void add_forecasts(const json& report, bool scaled, std::vector<std::vector<Cell>>& rows) {
  for (const char* key : kForecasts) {
    if (!report.contains(key)) continue;
    for (const char* metric : {"accuracy", "mae", "rmse"}) {
      const json& scores = report.at(key);
      if (!scores.contains(metric)) continue;
      rows.push_back(
          {{fmt::format("{} of {}", metric, forecast_name(key, report))}, {number(scores, metric)}});
      if (scaled) rows.back().push_back({number(scores, std::string(metric) + "_standardized")});
    }
  }
}

/// Returns the confusion matrix of a classification as a text table, one row per true class. For more than
/// ten classes, returns a line that refers to --json.
std::string confusion_table(const json& report) {
  constexpr size_t kMostShown = 10;
  const json& counts = report.at("confusion");
  if (counts.size() > kMostShown)
    return fmt::format("\nthe confusion matrix of {} classes: --json\n", counts.size());
  std::vector<std::vector<Cell>> rows = {{{"true \\ predicted"}}};
  for (size_t i = 0; i < counts.size(); ++i) {
    rows[0].push_back({class_name(report, static_cast<int64_t>(i))});
    rows.push_back({{class_name(report, static_cast<int64_t>(i))}});
    for (const json& count : counts[i]) rows.back().push_back({fmt::format("{}", count.get<int64_t>())});
  }
  return "\n" + text_table(rows);
}

}  // namespace

std::vector<std::string> metrics_of(const json& report) {
  std::vector<std::string> present;
  const auto add = [&](const char* name) {
    if (report.contains(name)) present.emplace_back(name);
  };
  for (const char* name : {"accuracy", "miou",  "mpa",   "base_rate",      "f1",          "f1_macro",
                           "mae",      "rmse",  "nll",   "nll_constant",   "nll_uniform", "brier",
                           "ece",      "mce",   "auroc", "aupr",           "crps",        "coverage",
                           "set_size", "empty", "width", "interval_score", "expected",    "expected_error"})
    add(name);
  for (const char* name : {"mean_entropy", "mean_mutual_information"}) add(name);
  for (const char* name : {"coverage_epistemic", "width_epistemic"}) add(name);
  return present;
}

std::string report_table(const json& report, double level, std::string_view noun) {
  const bool scaled = report.contains("mae_standardized");
  std::vector<std::vector<Cell>> rows = {{{counted(report.value("n", int64_t{0}), noun)}}};
  if (scaled) rows[0].insert(rows[0].end(), {{"target's units"}, {"standardised"}});
  for (const std::string& key : metrics_of(report)) {
    rows.push_back({{label_of(key, report, level, noun)}, {number(report, key)}});
    if (scaled) rows.back().push_back({number(report, key + "_standardized")});
    if (key == "coverage" && report.contains("coverage_of_inputs"))
      rows.push_back({{fmt::format("coverage of the {} different inputs, each once",
                                   report.at("different_inputs").get<int64_t>())},
                      {number(report, "coverage_of_inputs")}});
  }
  add_forecasts(report, scaled, rows);
  return text_table(rows) + (report.contains("confusion") ? confusion_table(report) : "");
}

std::string forecasts_text(const json& report, std::string_view part) {
  if (!report.is_object()) return "";
  std::string text;
  for (const char* key : kForecasts) {
    const char* metric = report.contains("accuracy") ? "accuracy" : "mae";
    if (!report.contains(key)) continue;
    if (text.empty()) text = fmt::format("{} windows: {} {}", part, metric, number(report, metric));
    text += fmt::format(", of {} {}", forecast_name(key, report), number(report.at(key), metric));
  }
  return text.empty() ? "" : text + "\n";
}

std::string class_name(const json& report, int64_t number) {
  const json& name =
      number < 0 ? report.at("base_class") : report.at("classes").at(static_cast<size_t>(number));
  return shown(in_plain_quotes(name.get<std::string>()));
}

void print(const std::string& text) {
  if (!print_result(text)) {
    throw std::runtime_error("standard output could not be written; it is closed or its disk is full");
  }
}

void print(const json& object) {
  print(
      data_for(STDOUT_FILENO, with_flags(object).dump(2, ' ', false, json::error_handler_t::replace) + "\n"));
}

void print_or_write(const std::string& out, Table table, size_t exact) {
  std::string ending = std::filesystem::path(out).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  const Column* found = table.find("sd");
  const std::vector<double> sd = found == nullptr ? std::vector<double>{} : found->values;
  const bool text = ending != ".parquet" && ending != ".feather";
  for (size_t i = exact; text && i < table.columns.size(); ++i)
    shorten(table.columns[i], found == nullptr ? nullptr : &sd);
  if (out == "-")
    print(data_for(STDOUT_FILENO, format_csv(table, ',')));
  else
    write_table(out, table);
}

void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input) {
  std::error_code ignored;
  if (input.empty() || !std::filesystem::equivalent(out, input, ignored)) return;
  refuse(command, flag + " to be a file of its own", fmt::format("the input '{}'", foreign_text(input)),
         "choose another name");
}

void check_replaces_model(const std::string& command, const std::string& flag, const std::string& out) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(out, unknown) || is_model(out)) return;
  if (std::filesystem::file_size(out, unknown) == 0 || unknown) return;
  refuse(command, flag + " to be a new file or a model, which is replaced",
         fmt::format("'{}', a file of another kind", foreign_text(out)),
         "choose another name, or remove that file first");
}

void check_model_first(const std::string& command, const std::string& model, const std::string& data) {
  if (!is_model(model) && is_model(data))
    refuse(command, "the model file, then the data",
           fmt::format("'{}', then '{}'", foreign_text(model), foreign_text(data)), "swap them");
}

}  // namespace slimbayes::cli
