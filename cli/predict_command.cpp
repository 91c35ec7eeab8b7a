#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "cli/answer_lines.h"
#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/joint.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/segmentation.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

/// Returns how far the rows lie outside the range of the training data; nothing if the model does not know
/// that range. In that case throws std::invalid_argument if `needed` is set (the flag --keep-outside).
std::optional<Outside> outside_of(const Model& model, const Examples& data, bool needed) {
  std::optional<Outside> far = outside(model.encoder(), data);
  check(far.has_value() || !needed, "predict",
        "a model of a table that knows its training range, for --keep-outside",
        "one without numeric columns, of events, of windows, images or text", "leave it out");
  return far;
}

/// Handles the examples in `bad`, whose answer is not finite. Logs a note; with --on-bad-row error, throws
/// DataError for the first one instead.
void check_answered(const PredictRequest& r, const Examples& data, const std::vector<BadRow>& bad) {
  if (bad.empty()) return;
  if (r.on_bad_row == "error") throw_bad_example(data, bad.front());
  log_line("note: " + bad_examples_text(data, bad, r.on_bad_row == "skip" ? "left out" : "left blank"));
}

/// What is answered, and with --split the numbers of these examples.
struct AskedExamples {
  Examples data;
  std::optional<Column> numbers = {};
};

/// Reads the data; with --split only that part, in the order of the file.
AskedExamples read_asked(const PredictRequest& r, const Model& model, const DataSource& source,
                         const ColumnChanges& changes) {
  const bool of_part = !r.split.empty();
  // The parts are lists of the rows that a fit reads, which have a target.
  const auto read = [&](const std::vector<std::string>& kept) {
    return read_for(model, r.data, source, /*with_target=*/of_part, nullptr, kept, changes);
  };
  if (!of_part) return {read(perhaps_named(r.keep))};
  check(r.keep.empty() || r.data != "-", "predict", "a file for --split with --keep, which reads it twice",
        "'-', standard input", "name the file, or leave --keep out");
  Examples data = read({});
  std::vector<int64_t> places = rows_of_part(model, data, r.split);
  std::ranges::sort(places);
  Column numbers = row_numbers(data, places);
  // Columns to keep are read as text, so that a table with them has not the hash of the fit's data.
  if (!r.keep.empty()) data = read(perhaps_named(r.keep));
  return {take(data, places), std::move(numbers)};
}

/// Refuses the flags of models of several targets.
void check_no_joint_flags(const PredictRequest& r) {
  for (const auto& [given, flag] :
       {std::pair{r.draws > 0, "--draws"}, {r.region, "--region"}, {!r.probability.empty(), "--probability"}})
    if (given)
      refuse("predict", fmt::format("a model of several targets for {}", flag), "one of one target",
             "fit one with --target a,b, or leave it out");
}

/// Writes the answers: the lines of the table, as a table or as JSON.
void write_answers(const PredictRequest& r, const Model& model, AnswerTable answer) {
  if (!r.json) return print_or_write(r.out, std::move(answer.table), answer.exact);
  read_target(answer.table, model);
  PredictionReport report{.task = std::string(name_of(model.schema().task.kind)), .levels = r.levels};
  if (!r.split.empty()) report.split = r.split;
  print_rows(std::move(report), std::move(answer.table), answer.exact);
}

}  // namespace

int run_command(const PredictRequest& r) {
  check_model_first("predict", r.model, r.data);
  check(!r.json || r.out == "-", "predict", "--json without --out, as JSON goes to stdout", "both",
        "leave one of them out");
  const ColumnChanges changes = column_changes(r.rename, r.fill);
  if (r.out != "-") {
    for (const std::string& file : r.files) check_not_input("predict", "--out", r.out, file);
    check_not_input("predict", "--out", r.out, r.model);
    check_writable(r.out);
  }
  const std::variant<Model, JointModel> loaded = load_asked(r.model);
  if (const auto* joint = std::get_if<JointModel>(&loaded)) return predict_jointly(r, *joint);
  check_no_joint_flags(r);
  const auto& model = std::get<Model>(loaded);
  log_interrupted(model);
  const DataSource source = data_source("predict", r.files, model);
  if (model.schema().task.grid) {
    predict_pixels(r, model);
    return kDone;
  }
  if (!r.maps.empty())
    refuse("predict", "a model of segmentation for --maps",
           fmt::format("one of {}", name_of(kind_of(model.encoder()))), "leave it out");
  check_quantiles(model, r.quantiles);
  AskedExamples asked = read_asked(r, model, source, changes);
  const Examples& data = asked.data;
  std::vector<std::string> kept;
  if (!r.keep.empty()) {
    const auto rows = last_rows(data);
    if (rows == nullptr)
      refuse("predict", "no --keep with images, which have no columns",
             fmt::format("'{}'", foreign_text(r.keep.front())), "leave it out");
    kept = columns_named(r.keep, "predict", "--keep", *rows);
  }
  const Answers a = answers_with_progress("predict", model, data, {levels_of(r), r.sets == "deterministic"});
  const std::optional<Outside> far = outside_of(model, data, r.keep_outside);
  check_answered(r, data, a.bad);
  TableOptions shown{std::move(kept), {}, r.parts, r.quantiles};
  if (r.keep_outside) shown.more.push_back({"outside", ColumnKind::numeric, far->beyond, {}});
  AnswerTable answer = answer_table(model, data, a, shown);
  add_numbers(std::move(asked.numbers), answer);
  if (r.on_bad_row == "skip") answer.table = take_rows(answer.table, a.rows);
  write_answers(r, model, std::move(answer));
  for (const std::string& note : notes_for(model.encoder(), data)) log_line("note: " + note);
  if (far && far->rows > 0)
    log_line(fmt::format("note: {}{}", outside_text(*far, std::get<Table>(data)),
                         r.keep_outside ? "" : kOutsideHint));
  for (const std::string& note : answer_notes(model, data, a, shown)) log_line("note: " + note);
  return kDone;
}

}  // namespace slimbayes::cli
