#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/ranking.h"
#include "slimbayes/data/outside.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

/// The rows of one part of the split that the model was fitted with.
Table part_of(const TableModel& model, const Table& table, const std::string& part) {
  check(table_hash(table) == model.table_hash(), "evaluate",
        "the table that the model was fitted on, for --split", fmt::format("another one, '{}'", table.source),
        "leave --split out to score every row");
  const SplitRows& split = model.split();
  const auto& rows = part == "train"         ? split.train
                     : part == "valid"       ? split.valid
                     : part == "calibration" ? split.calibration
                                             : split.test;
  check(
      !rows.empty(), "evaluate", fmt::format("a model that was fitted with {} rows", part), "one without",
      part == "calibration" ? "fit with --calibrate conformal" : fmt::format("fit with --{}-fraction", part));
  return take_rows(table, rows);
}

/// The rows that have an answer, with a note; unless --on-bad-row skip is given every row must have one.
Table without(const EvaluateRequest& r, Table table, const std::vector<BadRow>& bad) {
  if (bad.empty()) return table;
  if (r.on_bad_row == "error")
    throw_bad_cell(table, bad.front().row, bad.front().reason + "; --on-bad-row skip leaves such rows out");
  log_line("note: " + bad_rows_text(table, bad, "left out"));
  return take_rows(table, rows_without(bad, table.rows));
}

/// {"auroc": of each score, "inverted": the scores that are lower on the foreign rows}, beyond what chance makes of them.
json separation(const TableModel& model, const Table& near, const Table& far) {
  constexpr double kSds = 3;
  const Scores inside = model.ood(near), outside = model.ood(far);
  check(!inside.empty(), "evaluate", "a method that scores foreign rows, or numeric inputs, for --ood",
        model.method(), "use another --method, or fit again");
  json auc = json::object(), inverted = json::array();
  for (const auto& [name, scores] : inside) {
    auc[name] = auroc(scores, outside.at(name));
    if (auc[name].get<double>() < 0.5 - kSds * auroc_sd(near.rows, far.rows)) inverted.push_back(name);
  }
  return {{"auroc", auc}, {"inverted", inverted}};
}

std::string separation_text(const json& ood, const std::string& table) {
  std::string text = fmt::format("\nAUROC of {} (0.5: told apart as by chance)\n", shown(table));
  for (const auto& item : ood["auroc"].items()) {
    const bool inverted = std::ranges::find(ood["inverted"], json(item.key())) != ood["inverted"].end();
    text += fmt::format("{:<18}  {:.4f}{}\n", item.key(), item.value().get<double>(),
                        inverted ? "  inverted: lower on the foreign table, not usable" : "");
  }
  if (ood.contains("left_out"))
    text += fmt::format(
        "{} foreign rows, too far for any answer, are left out: the table is more foreign than this\n",
        ood["left_out"].get<int64_t>());
  return text;
}

/// Rows outside the training range, in the report and the log. Nothing where the model does not know it.
void report_outside(const TableModel& model, const Table& table, json& report) {
  const std::optional<Outside> far = outside(model.encoder(), table);
  if (!far) return;
  json columns = json::object();
  for (const Outside::Beyond& column : far->columns)
    columns[column.name] = {{"rows", column.rows}, {"farthest", column.farthest}};
  report["outside"] = {{"rows", far->rows}, {"columns", columns}};
  if (far->rows > 0) log_line("note: " + outside_text(*far, table));
}

}  // namespace

int run_command(const EvaluateRequest& r) {
  check_model_first("evaluate", r.model, r.data);
  const TableModel model = TableModel::load(r.model);
  log_unfinished(model);
  Table table = read_rows(r.data, model.reading(true), model.encoder().target_name());
  if (!r.split.empty())
    table = part_of(model, table, r.split);
  else if (table_hash(table) == model.table_hash())
    log_line(
        "note: this table was fitted on, its training rows are scored too; --split test scores what was held "
        "out");
  std::vector<BadRow> bad;
  json report = model.evaluate(table, r.level, &bad);
  const Table answered = without(r, table, bad);
  json ood;
  if (!r.ood.empty()) {
    Table foreign = read_rows(r.ood, model.reading());
    const std::vector<BadRow> unanswered = model.answers(foreign).bad;
    ood = separation(model, answered, without(r, std::move(foreign), unanswered));
    if (!unanswered.empty()) ood["left_out"] = unanswered.size();
  }
  report_outside(model, table, report);
  if (r.json) {
    report["method"] = model.method();
    report["level"] = r.level;
    if (model.calibration().groups > 0) report["calibration"] = "conformal";
    if (!r.split.empty()) report["split"] = r.split;
    if (!ood.is_null()) report["ood"] = ood;
    print(report);
    return kDone;
  }
  print(report_table(report, r.level));
  if (!ood.is_null()) print(separation_text(ood, r.ood));
  return kDone;
}

}  // namespace slimbayes::cli
