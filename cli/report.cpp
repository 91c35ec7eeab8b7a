#include "cli/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "cli/edge.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_csv.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

/// Characters of UTF-8: the bytes that continue one do not count.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

// Marks do not count: the star and the escape codes lie outside the column's width.
std::string set_in(const Cell& cell, size_t width, bool left, bool terminal) {
  const std::string padding(width - std::min(width, width_of(cell.text)), ' ');
  const std::string text = cell.best && terminal ? "\x1b[1m" + cell.text + "\x1b[0m" : cell.text;
  const std::string mark = terminal || left ? "" : cell.best ? "*" : " ";
  return left ? text + padding : padding + text + mark;
}

std::string number(const json& report, const std::string& key) {
  const auto found = report.find(key);
  if (found == report.end()) return "";
  return found->is_number() ? rounded(found->get<double>()) : "nan";
}

}  // namespace

std::string rounded(double x) {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  return std::abs(x) >= 1e4 || x == 0 ? fmt::format("{:.5g}", x) : fmt::format("{:#.4g}", x);
}

std::string text_table(const std::vector<std::vector<Cell>>& rows) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + set_in(row[i], widths[i], i == 0, terminal);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> metrics_of(const json& report) {
  std::vector<std::string> present;
  for (const char* name :
       {"accuracy", "mae", "rmse", "nll", "nll_constant", "nll_uniform", "brier", "ece", "mce", "auroc",
        "aupr", "crps", "coverage", "width", "interval_score", "expected",
        "expected_error"}) {
    if (report.contains(name)) present.emplace_back(name);
  }
  return present;
}

std::string report_table(const json& report, double level) {
  const bool scaled = report.contains("mae_standardized");
  std::vector<std::vector<Cell>> rows = {{{fmt::format("{} rows", report.value("n", int64_t{0}))}}};
  if (scaled) rows[0].insert(rows[0].end(), {{"target's units"}, {"standardised"}});
  for (const std::string& key : metrics_of(report)) {
    const bool of_interval = key == "coverage" || key == "width" || key == "interval_score";
    const std::string label = of_interval ? fmt::format("{} at {:g} %", key, 100 * level) : key;
    rows.push_back({{label}, {number(report, key)}});
    if (scaled) rows.back().push_back({number(report, key + "_standardized")});
  }
  return text_table(rows);
}

void print(const std::string& text) {
  if (!print_result(text)) {
    throw std::runtime_error("standard output could not be written; it is closed or its disk is full");
  }
}

void print(const json& object) { print(object.dump(2, ' ', false, json::error_handler_t::replace) + "\n"); }

void print_or_write(const std::string& out, const Table& table) {
  if (out == "-")
    print(format_csv(table, ','));
  else
    write_table(out, table);
}

void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input) {
  std::error_code ignored;
  if (input.empty() || !std::filesystem::equivalent(out, input, ignored)) return;
  check(false, command, flag + " to be a file of its own", fmt::format("the input '{}'", input),
        "choose another name");
}

void check_model_first(const std::string& command, const std::string& model, const std::string& data) {
  const auto is_model = [](const std::string& path) {
    return std::filesystem::path(path).extension() == ".safetensors";
  };
  check(is_model(model) || !is_model(data), command, "the model file, then the table",
        fmt::format("'{}', then '{}'", model, data), "swap them");
}

}  // namespace slimbayes::cli
