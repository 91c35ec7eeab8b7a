#include <ATen/ATen.h>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/ranking.h"

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

json separation(const TableModel& model, const Table& near, const Table& far) {
  const Scores inside = model.ood(near), outside = model.ood(far);
  json result = json::object();
  for (const auto& [name, scores] : inside) result[name] = auroc(scores, outside.at(name));
  return result;
}

}  // namespace

int run_command(const EvaluateRequest& r) {
  check_model_first("evaluate", r.model, r.data);
  const TableModel model = TableModel::load(r.model);
  Table table = read_rows(r.data, model.reading(true), model.encoder().target_name());
  if (!r.split.empty())
    table = part_of(model, table, r.split);
  else if (table_hash(table) == model.table_hash())
    log_line(
        "note: this table was fitted on, its training rows are scored too; --split test scores what was held "
        "out");
  json report = model.evaluate(table, r.level);
  json ood;
  if (!r.ood.empty()) ood = separation(model, table, read_rows(r.ood, model.reading()));
  if (r.json) {
    report["method"] = model.method();
    report["level"] = r.level;
    if (model.calibration().groups > 0) report["calibration"] = "conformal";
    if (!r.split.empty()) report["split"] = r.split;
    if (!ood.is_null()) report["ood"] = {{"auroc", ood}};
    print(report);
    return kDone;
  }
  print(report_table(report, r.level));
  for (const auto& item : ood.items()) {
    print(fmt::format("\nAUROC of {} against {}: {:.4f}\n", item.key(), r.ood, item.value().get<double>()));
  }
  return kDone;
}

}  // namespace slimbayes::cli
