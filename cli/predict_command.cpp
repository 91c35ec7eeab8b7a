#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/count_distribution.h"
#include "slimbayes/data/outside.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/storage/atomic_file.h"

namespace slimbayes::cli {
namespace {

using Columns = std::vector<Column>;

Columns columns_of(const Regression& p, const Answers& a, const TableModel&) {
  return {column("mean", p.mean),
          column("sd", total_var(p).sqrt()),
          column("sd_aleatoric", p.aleatoric_var.sqrt()),
          column("sd_epistemic", p.epistemic_var.sqrt()),
          column("lower", a.interval->lower),
          column("upper", a.interval->upper)};
}

/// The classes of each row's set, in the order of their numbers, joined by "|"; an empty cell for none.
Column set_column(const PredictionSet& set, const std::vector<std::string>& names) {
  Column column{"set", ColumnKind::categorical, {}, {}};
  std::map<std::string, double> places;
  const at::Tensor members = set.contiguous();
  for (int64_t i = 0; i < members.size(0); ++i) {
    std::vector<std::string> held;
    for (size_t c = 0; c < names.size(); ++c) {
      if (members.const_data_ptr<bool>()[i * members.size(1) + static_cast<int64_t>(c)])
        held.push_back(names[c]);
    }
    const std::string text = fmt::format("{}", fmt::join(held, "|"));
    const auto [place, added] = places.emplace(text, static_cast<double>(column.levels.size()));
    if (added) column.levels.push_back(text);
    column.values.push_back(place->second);
  }
  return column;
}

Columns columns_of(const Classes& p, const Answers& a, const TableModel& model) {
  const std::vector<std::string>& names = model.encoder().schema().task.levels;
  Columns columns;
  for (size_t c = 0; c < names.size(); ++c)
    columns.push_back(column("p_" + names[c], p.probabilities.select(1, static_cast<int64_t>(c))));
  columns.push_back(column("entropy", p.predictive_entropy));
  columns.push_back(column("mutual_information", mutual_information(p)));
  columns.push_back({"label", ColumnKind::categorical, numbers(predicted_class(p)), names});
  if (a.set) columns.push_back(set_column(*a.set, names));
  return columns;
}

Columns columns_of(const Counts& p, const Answers& a, const TableModel&) {
  return {column("mean", mean(p.rate)),
          column("sd", total_var(p).sqrt()),
          column("sd_aleatoric", mean(p.rate).sqrt()),
          column("sd_epistemic", var(p.rate).sqrt()),
          column("lower", a.interval->lower),
          column("upper", a.interval->upper)};
}

Columns columns_of(const Intensity& p, const Answers& a, const TableModel&) {
  return {column("mean", mean(p.rate)), column("sd", var(p.rate).sqrt()), column("lower", a.interval->lower),
          column("upper", a.interval->upper)};
}

/// The answers' columns in the places of their rows; missing cells elsewhere.
Columns spread(Columns columns, const std::vector<int64_t>& rows, int64_t all) {
  for (Column& column : columns) {
    std::vector<double> values(static_cast<size_t>(all), NAN);
    for (size_t i = 0; i < rows.size(); ++i) values[static_cast<size_t>(rows[i])] = column.values[i];
    column.values = std::move(values);
  }
  return columns;
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

/// Far from its data a log rate is so uncertain that the rate's mean says nothing.
void log_tails(const Table& data, const Answers& a, double level) {
  const auto note = [&](const auto& p) {
    // A count's interval has whole ends, which the mean of a low rate may exceed: the rate's own tells a tail.
    const at::Tensor rows = mean_above_interval(p.rate, interval(Intensity{p.rate}, level)).nonzero();
    if (rows.size(0) == 0) return;
    const at::Tensor least = p.rate.log_var.index_select(0, rows.squeeze(1)).min();
    log_line(fmt::format(
        "note: in {} of {} rows (the first: data row {}) the mean lies above the {:g} % interval: the log "
        "rate's sd "
        "is {:.3g} or more, far from the training data, and the mean rests on the tail; read the interval",
        rows.size(0), data.rows, row_number(data, a.rows[static_cast<size_t>(rows[0][0].item<int64_t>())]),
        100 * level, std::sqrt(least.item<double>())));
  };
  if (const auto* p = std::get_if<Counts>(&a.answer)) note(*p);
  if (const auto* p = std::get_if<Intensity>(&a.answer)) note(*p);
}

void log_notes(const TableModel& model, const Predictive& answer) {
  const auto zeroed = std::visit([](const auto& p) { return p.zeroed; }, answer);
  if (zeroed > 0)
    log_line(fmt::format("note: rounding made {} epistemic variances negative; they are 0", zeroed));
  const MethodInfo& method = find_method(model.method());
  if (std::holds_alternative<Regression>(answer) && !method.splits_uncertainty)
    log_line(fmt::format("note: {}: {}", method.name, method.parts));
}

/// How far the rows lie, where the model knows; `needed` by --keep-outside.
std::optional<Outside> outside_of(const TableModel& model, const Table& data, bool needed) {
  std::optional<Outside> far = outside(model.encoder(), data);
  check(far.has_value() || !needed, "predict", "a model that knows its training range, for --keep-outside",
        "one without numeric columns, of events, or written by an older version",
        "leave it out, or fit again");
  return far;
}

/// Rows without an answer: a note, or with --on-bad-row error a DataError for the first.
void check_answered(const PredictRequest& r, const Table& data, const std::vector<BadRow>& bad) {
  if (bad.empty()) return;
  if (r.on_bad_row == "error") throw_bad_cell(data, bad.front().row, bad.front().reason);
  log_line("note: " + bad_rows_text(data, bad, r.on_bad_row == "skip" ? "left out" : "left blank"));
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
  log_unfinished(model);
  Reading reading = model.reading();
  reading.kept = perhaps_named(r.keep);
  const Table data = read_rows(r.data, reading);
  const std::vector<std::string> kept = columns_named(r.keep, "predict", "--keep", data);
  const Answers a = model.answers(data, r.level);
  const std::optional<Outside> far = outside_of(model, data, r.keep_outside);
  check_answered(r, data, a.bad);
  Columns columns = std::visit([&](const auto& p) { return columns_of(p, a, model); }, a.answer);
  columns = spread(std::move(columns), a.rows, data.rows);
  if (r.keep_outside) columns.push_back({"outside", ColumnKind::numeric, far->beyond, {}});
  Table answer;
  answer.rows = data.rows;
  answer.columns = with_kept(kept, data, std::move(columns));
  print_or_write(r.out, r.on_bad_row == "skip" ? take_rows(answer, a.rows) : answer, kept.size());
  for (const std::string& note : model.encoder().notes_for(data)) log_line("note: " + note);
  if (far && far->rows > 0)
    log_line(fmt::format("note: {}{}", outside_text(*far, data),
                         r.keep_outside ? "" : "; --keep-outside shows how far each row lies"));
  log_notes(model, a.answer);
  log_tails(data, a, r.level);
  if (r.level != PredictRequest{}.level && std::holds_alternative<Classes>(a.answer) && !a.set)
    log_line(
        "note: --level says nothing of these classes: only a model fitted with --calibrate conformal gives "
        "sets "
        "of them");
  return kDone;
}

}  // namespace slimbayes::cli
