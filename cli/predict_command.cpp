#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {
namespace {

using Columns = std::vector<Column>;

Columns columns_of(const TableModel& model, const Regression& p, double level) {
  const Interval bounds = model.interval(p, level);
  return {column("mean", p.mean),
          column("sd", total_var(p).sqrt()),
          column("sd_aleatoric", p.aleatoric_var.sqrt()),
          column("sd_epistemic", p.epistemic_var.sqrt()),
          column("lower", bounds.lower),
          column("upper", bounds.upper)};
}

Columns columns_of(const TableModel& model, const Classes& p, double) {
  const std::vector<std::string>& names = model.encoder().schema().task.levels;
  Columns columns;
  for (size_t c = 0; c < names.size(); ++c)
    columns.push_back(column("p_" + names[c], p.probabilities.select(1, static_cast<int64_t>(c))));
  columns.push_back(column("entropy", p.predictive_entropy));
  columns.push_back(column("mutual_information", mutual_information(p)));
  columns.push_back({"label", ColumnKind::categorical, numbers(predicted_class(p)), names});
  return columns;
}

Columns columns_of(const TableModel&, const Counts& p, double level) {
  const Interval bounds = interval(p, level);
  return {column("mean", mean(p.rate)),
          column("sd", total_var(p).sqrt()),
          column("sd_aleatoric", mean(p.rate).sqrt()),
          column("sd_epistemic", var(p.rate).sqrt()),
          column("lower", bounds.lower),
          column("upper", bounds.upper)};
}

Columns columns_of(const TableModel&, const Intensity& p, double level) {
  const Interval bounds = interval(p, level);
  return {column("mean", mean(p.rate)), column("sd", var(p.rate).sqrt()), column("lower", bounds.lower),
          column("upper", bounds.upper)};
}

/// The kept columns, before those of the answer. Throws std::invalid_argument for one that the answer has as well.
Columns with_kept(const std::vector<std::string>& names, const Table& data, Columns answer) {
  Columns all;
  for (const std::string& name : names) {
    check(std::ranges::find(answer, name, &Column::name) == answer.end(), "predict",
          "other names for --keep than those of the answer", in_quotes(name), "rename that column");
    all.push_back(*data.find(name));
  }
  std::ranges::move(answer, std::back_inserter(all));
  return all;
}

void log_notes(const TableModel& model, const Predictive& answer) {
  const auto zeroed = std::visit([](const auto& p) { return p.zeroed; }, answer);
  if (zeroed > 0)
    log_line(fmt::format("note: rounding made {} epistemic variances negative; they are 0", zeroed));
  const MethodInfo& method = find_method(model.method());
  if (std::holds_alternative<Regression>(answer) && !method.splits_uncertainty)
    log_line(fmt::format("note: {}: {}", method.name, method.parts));
}

}  // namespace

int run_command(const PredictRequest& r) {
  check_model_first("predict", r.model, r.data);
  if (r.out != "-") {
    check_not_input("predict", "--out", r.out, r.data);
    check_not_input("predict", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const TableModel model = TableModel::load(r.model);
  Reading reading = model.reading();
  // Text that the model does not use is kept as it stands in the file: 007 is no number.
  for (const std::string& name : perhaps_named(r.keep))
    reading.kinds.try_emplace(name, ColumnKind::categorical);
  const Table data = read_rows(r.data, reading);
  const std::vector<std::string> kept = columns_named(r.keep, "predict", "--keep", data);
  const Predictive p = model.answer(data);
  Table answer;
  answer.rows = data.rows;
  answer.columns =
      with_kept(kept, data, std::visit([&](const auto& one) { return columns_of(model, one, r.level); }, p));
  print_or_write(r.out, answer);
  for (const std::string& note : model.encoder().notes_for(data)) log_line("note: " + note);
  log_notes(model, p);
  if (r.level != PredictRequest{}.level && std::holds_alternative<Classes>(p))
    log_line("note: --level says nothing of classes: they are answered by probabilities, not by intervals");
  return kDone;
}

}  // namespace slimbayes::cli
