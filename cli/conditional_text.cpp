#include "cli/conditional_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cli/text_table.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes::cli {
namespace {

constexpr size_t kMostGroups = 30;  // of a table on the terminal

std::string size_text(const SizeCoverage& sizes, double level) {
  std::vector<std::vector<Cell>> rows = {{{fmt::format("coverage at {:g} % by width", 100 * level)},
                                          {"rows"},
                                          {"mean width"},
                                          {"coverage"},
                                          {"gap in sds"}}};
  for (size_t i = 0; i < sizes.bins.size(); ++i) {
    const SizeBin& bin = sizes.bins[i];
    rows.push_back({{sizes.bins.size() == 1       ? "all rows, one width"
                     : i == 0                     ? "1, the narrowest"
                     : i + 1 == sizes.bins.size() ? fmt::format("{}, the widest", i + 1)
                                                  : fmt::format("{}", i + 1)},
                    {fmt::format("{}", bin.rows)},
                    {rounded(bin.width)},
                    {rounded(bin.coverage)},
                    {fmt::format("{:+.1f}", bin.gap)}});
  }
  return "\n" + text_table(rows);
}

/// A column of the table of groups.
struct ScoreColumn {
  std::string title;
  std::optional<double> GroupScores::*score;
};

std::vector<Cell> group_line(const GroupScores& group, std::string name,
                             const std::vector<ScoreColumn>& columns) {
  std::vector<Cell> line = {{std::move(name)}, {fmt::format("{}", group.rows)}};
  for (const ScoreColumn& column : columns) {
    const std::optional<double>& score = group.*column.score;
    line.push_back({score ? rounded(*score) : ""});
    if (column.score != &GroupScores::coverage) continue;
    const auto& range = group.coverage_range;
    line.push_back({range ? fmt::format("{:.3f} to {:.3f}", range->first, range->second) : ""});
  }
  line.push_back({rounded(group.nll)});
  return line;
}

std::string groups_text(const GroupedScores& grouped, double level) {
  const GroupScores& any = grouped.groups.empty() ? *grouped.few : grouped.groups.front();
  const std::string coverage = fmt::format("coverage at {:g} %", 100 * level);
  std::vector<ScoreColumn> columns;
  std::vector<std::vector<Cell>> rows = {{{"by " + grouped.column}, {"rows"}}};
  for (const ScoreColumn& column : std::vector<ScoreColumn>{{coverage, &GroupScores::coverage},
                                                            {"width", &GroupScores::width},
                                                            {"set_size", &GroupScores::set_size},
                                                            {"accuracy", &GroupScores::accuracy},
                                                            {"rmse", &GroupScores::rmse}}) {
    if (!(any.*column.score)) continue;
    columns.push_back(column);
    rows[0].push_back({column.title});
    if (column.score == &GroupScores::coverage) rows[0].push_back({"its 95 % range"});
  }
  rows[0].push_back({"nll"});
  const size_t listed = std::min(grouped.groups.size(), kMostGroups);
  for (size_t i = 0; i < listed; ++i)
    rows.push_back(group_line(grouped.groups[i], grouped.groups[i].name, columns));
  if (grouped.few)
    rows.push_back(group_line(*grouped.few,
                              fmt::format("{}, {}", counted(grouped.few_groups, "group"), grouped.few->name),
                              columns));
  std::string text = "\n" + text_table(rows);
  if (const size_t more = grouped.groups.size() - listed; more > 0)
    text += fmt::format("and {} more: --json\n", counted(static_cast<int64_t>(more), "group"));
  return text;
}

std::string risk_text(const ExcessRisk& risk) {
  if (!risk.ert_l1) return fmt::format("\nconditional coverage: {}\n", risk.says);
  std::vector<std::vector<Cell>> rows = {
      {{fmt::format("conditional coverage, {} folds", risk.folds)}, {"estimate"}, {"standard error"}}};
  rows.push_back({{"ert_l1, mean |coverage - level|"}, {rounded(*risk.ert_l1)}, {rounded(*risk.ert_l1_se)}});
  rows.push_back(
      {{"ert_brier, mean (coverage - level)^2"}, {rounded(*risk.ert_brier)}, {rounded(*risk.ert_brier_se)}});
  return "\n" + text_table(rows) + risk.says + "\n";
}

}  // namespace

std::string conditional_text(const ConditionalReport& report, double level) {
  std::string text;
  if (report.coverage_by_size) text += size_text(*report.coverage_by_size, level);
  if (report.by)
    for (const GroupedScores& grouped : *report.by) text += groups_text(grouped, level);
  if (report.conditional) text += risk_text(*report.conditional);
  return text;
}

}  // namespace slimbayes::cli
