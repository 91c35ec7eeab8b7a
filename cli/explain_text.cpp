#include "cli/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "cli/report.h"
#include "cli/text_table.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes::cli {
namespace {

constexpr size_t kMostGroups = 30;

/// A number of a group and the head of its column.
struct Shown {
  const char* name;
  std::optional<Repeated> GroupImportance::*number;
};

constexpr std::array kShown = {Shown{"nll", &GroupImportance::nll},
                               Shown{"rmse", &GroupImportance::rmse},
                               Shown{"accuracy", &GroupImportance::accuracy},
                               Shown{"mean", &GroupImportance::mean},
                               Shown{"aleatoric", &GroupImportance::aleatoric},
                               Shown{"epistemic", &GroupImportance::epistemic},
                               Shown{"width", &GroupImportance::width}};

bool any_has(const std::vector<GroupImportance>& groups, const Shown& shown) {
  return std::ranges::any_of(groups,
                             [&](const GroupImportance& one) { return (one.*shown.number).has_value(); });
}

/// Returns the cells of one number of the groups: "mean ± standard error", or "-" where it is not defined.
std::vector<std::string> cells_of_number(const std::vector<GroupImportance>& groups, const Shown& shown) {
  std::vector<Spread> spreads;
  std::vector<double> values;
  for (const GroupImportance& one : groups) {
    if (const auto& number = one.*shown.number) {
      spreads.push_back({number->value, number->se.value_or(NAN)});
      values.push_back(number->value);
    }
  }
  const std::vector<std::string> texts = aligned(spreads, NumberFormat(values));
  std::vector<std::string> cells;
  size_t next = 0;
  for (const GroupImportance& one : groups) cells.push_back((one.*shown.number) ? texts[next++] : "-");
  return cells;
}

std::string importance_text(const ExplainReport& report, const std::string& noun) {
  const std::vector<GroupImportance> groups(
      report.importance.begin(),
      report.importance.begin() + static_cast<int64_t>(std::min(kMostGroups, report.importance.size())));
  std::vector<std::vector<Cell>> rows = {{{fmt::format("{} permuted", counted(report.rows, noun))}}};
  for (const GroupImportance& one : groups) rows.push_back({{one.group}});
  for (const Shown& shown : kShown) {
    if (!any_has(groups, shown)) continue;
    rows[0].push_back({shown.name});
    const std::vector<std::string> cells = cells_of_number(groups, shown);
    for (size_t i = 0; i < cells.size(); ++i) rows[i + 1].push_back({cells[i]});
  }
  std::string text = text_table(rows);
  if (report.importance.size() > groups.size())
    text += fmt::format("\n{} more columns: --json\n", report.importance.size() - groups.size());
  return text;
}

/// Returns the numbers of a point by the names of their columns, in order.
std::vector<std::pair<std::string, double>> numbers_of(const PartialPoint& point) {
  if (const auto& n = point.numbers)
    return {{"mean", n->mean},
            {"sd_aleatoric", n->sd_aleatoric},
            {"sd_epistemic", n->sd_epistemic},
            {"width", n->width}};
  std::vector<std::pair<std::string, double>> out;
  const PartialClasses& classes = point.classes.value();
  for (const auto& [name, probability] : classes.probabilities) out.emplace_back("p_" + name, probability);
  out.emplace_back("entropy", classes.entropy);
  out.emplace_back("mutual_information", classes.mutual_information);
  return out;
}

/// Returns the value of a point as text; numbers in full if `exact`, else rounded.
std::string text_of_value(const PartialPoint& point, bool exact) {
  if (const auto* text = std::get_if<std::string>(&point.value)) return *text;
  const double value = std::get<double>(point.value);
  return exact ? fmt::format("{}", value) : rounded(value);
}

std::string curve_text(const PartialDependence& curve) {
  std::vector<std::vector<Cell>> rows = {{{curve.column}}};
  for (const auto& [name, number] : numbers_of(curve.points.front())) rows[0].push_back({name});
  for (const PartialPoint& point : curve.points) {
    rows.push_back({{text_of_value(point, false)}});
    for (const auto& [name, number] : numbers_of(point)) rows.back().push_back({rounded(number)});
  }
  return "\n" + text_table(rows);
}

/// Returns a column of texts, each a level of its own.
Column text_column(std::string name, const std::vector<std::string>& cells) {
  Column column{std::move(name), ColumnKind::categorical, {}, {}};
  std::map<std::string, double> known;
  for (const std::string& cell : cells) {
    const auto [found, is_new] = known.try_emplace(cell, static_cast<double>(column.levels.size()));
    if (is_new) column.levels.push_back(cell);
    column.values.push_back(found->second);
  }
  return column;
}

}  // namespace

std::string explain_text(const ExplainReport& report, const std::string& noun) {
  std::string text = importance_text(report, noun);
  if (report.partial_dependence)
    for (const PartialDependence& curve : *report.partial_dependence) text += curve_text(curve);
  return text;
}

Table importance_columns(const std::vector<GroupImportance>& importance) {
  std::vector<std::string> names;
  for (const GroupImportance& one : importance) names.push_back(one.group);
  Table table{"", {text_column("group", names)}, std::ssize(importance)};
  for (const Shown& shown : kShown) {
    if (!any_has(importance, shown)) continue;
    Column value{shown.name, ColumnKind::numeric, {}, {}},
        se{std::string(shown.name) + "_se", ColumnKind::numeric, {}, {}};
    for (const GroupImportance& one : importance) {
      const auto& number = one.*shown.number;
      value.values.push_back(number ? number->value : kMissing);
      se.values.push_back(number && number->se ? *number->se : kMissing);
    }
    table.columns.push_back(std::move(value));
    table.columns.push_back(std::move(se));
  }
  return table;
}

Table curves_table(const std::vector<PartialDependence>& curves) {
  std::vector<std::string> names, texts;
  std::vector<double> values, rows;
  std::vector<Column> numbers;
  for (const PartialDependence& curve : curves) {
    for (const PartialPoint& point : curve.points) {
      names.push_back(curve.column);
      texts.push_back(text_of_value(point, true));
      if (const auto* value = std::get_if<double>(&point.value)) values.push_back(*value);
      rows.push_back(static_cast<double>(point.rows));
      const auto answer = numbers_of(point);
      for (size_t i = 0; i < answer.size(); ++i) {
        if (i == numbers.size()) numbers.push_back({answer[i].first, ColumnKind::numeric, {}, {}});
        numbers[i].values.push_back(answer[i].second);
      }
    }
  }
  Column value = values.size() == texts.size() ? Column{"value", ColumnKind::numeric, values, {}}
                                               : text_column("value", texts);
  Table table{"",
              {text_column("column", names), std::move(value), {"rows", ColumnKind::numeric, rows, {}}},
              std::ssize(names)};
  std::ranges::move(numbers, std::back_inserter(table.columns));
  return table;
}

}  // namespace slimbayes::cli
