// predict of a model of several targets.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/answer_lines.h"
#include "cli/commands.h"
#include "cli/conditions.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/joint.h"
#include "cli/joint_text.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

using Words = std::vector<std::string>;

/// Refuses flags that a model of several targets does not take, or not together.
void check_asked_of_joint(const PredictRequest& r, const JointModel& model) {
  const std::pair<bool, const char*> of_one[] = {{!r.rename.empty(), "--rename"},
                                                 {!r.fill.empty(), "--fill"},
                                                 {!r.maps.empty(), "--maps"},
                                                 {r.keep_outside, "--keep-outside"}};
  for (const auto& [given, flag] : of_one)
    if (given)
      refuse("predict", fmt::format("a model of one target for {}", flag), "one of several", "leave it out");
  const std::pair<bool, const char*> of_lines[] = {{!r.keep.empty(), "--keep"},
                                                   {!r.quantiles.empty(), "--quantiles"},
                                                   {!r.probability.empty(), "--probability"},
                                                   {r.region, "--region"},
                                                   {r.parts, "--parts"}};
  for (const auto& [given, flag] : of_lines)
    if (given && r.draws > 0)
      refuse("predict", "--draws, whose lines are draws, without columns of the answer", flag,
             "leave one of them out");
  if (r.draws > 0 && r.level_given)
    refuse("predict", "--draws without --level: draws are of the whole distribution", "both",
           "leave one of them out; intervals and --region have a level");
  if (r.region && r.levels.size() != 1)
    refuse("predict", "one --level for --region", fmt::format("{}", r.levels.size()),
           "call predict for each level");
  if (r.region && model.scored().empty())
    refuse("predict", "a target of numbers or counts for --region", "targets of classes alone",
           "leave it out");
  bool any = false;
  for (const Model& one : model.models()) {
    if (one.schema().task.kind == TaskKind::classification) continue;
    check_quantiles(one, r.quantiles);
    any = true;
  }
  check(any || r.quantiles.empty(), "predict", "a target of numbers or counts for --quantiles",
        "targets of classes alone", "leave it out");
}

/// The rows that are answered, and with --split the numbers of these rows.
struct AskedRows {
  Table table;
  std::optional<Column> numbers = {};
};

/// Reads the data; with --split only that part, in the order of the file.
AskedRows read_rows(const PredictRequest& r, const JointModel& model) {
  const DataSource source = data_source("predict", r.files);
  const bool of_part = !r.split.empty();
  const auto read = [&](const Words& kept) {
    return read_for(model, r.data, source, /*with_targets=*/of_part, nullptr, kept);
  };
  if (!of_part) return {read(perhaps_named(r.keep))};
  check(r.keep.empty() || r.data != "-", "predict", "a file for --split with --keep, which reads it twice",
        "'-', standard input", "name the file, or leave --keep out");
  const Examples data = read({});
  std::vector<int64_t> places = rows_of_part(model, data, r.split);
  std::ranges::sort(places);
  Column numbers = row_numbers(data, places);
  const Table table = r.keep.empty() ? std::get<Table>(data) : read(perhaps_named(r.keep));
  return {take_rows(table, places), std::move(numbers)};
}

/// Handles the rows without a finite answer to some target, as predict does for one target.
void check_rows_answered(const PredictRequest& r, const JointModel& model, const Examples& rows,
                         const JointAnswers& answers) {
  const char* done = r.draws > 0 || r.on_bad_row == "skip" ? "left out" : "left blank";
  const Words targets = model.targets();
  for (size_t t = 0; t < targets.size(); ++t) {
    const std::vector<BadRow>& bad = answers.marginal[t].bad;
    if (bad.empty()) continue;
    if (r.on_bad_row == "error")
      throw_bad_example(
          rows, {bad.front().row, fmt::format("{}: {}", foreign_text(targets[t]), bad.front().reason)});
    log_line(fmt::format("note: {}: {}", foreign_text(targets[t]), bad_examples_text(rows, bad, done)));
  }
}

/// Returns the column of the probability that all conditions hold.
Column probability_column(const JointModel& model, const JointAnswers& answers,
                          const std::vector<JointCondition>& conditions, int64_t all) {
  Column column{
      "probability", ColumnKind::numeric, std::vector<double>(static_cast<size_t>(all), kMissing), {}};
  if (answers.rows.empty()) return column;
  const at::Tensor p = model.probability(answers, conditions).to(at::kDouble).contiguous();
  const auto* values = p.const_data_ptr<double>();
  for (size_t i = 0; i < answers.rows.size(); ++i)
    column.values[static_cast<size_t>(answers.rows[i])] = values[i];
  return column;
}

/// Says which class of the conditions counts as independent of their numbers, if there are both.
void note_independent_class(const std::vector<JointCondition>& conditions) {
  const auto is_class = [](const JointCondition& one) { return one.holds == JointCondition::Holds::is; };
  const auto found = std::ranges::find_if(conditions, is_class);
  if (found == conditions.end() || std::ranges::all_of(conditions, is_class)) return;
  log_line(fmt::format(
      "note: the probability takes the class of {} as independent of the other targets, given the inputs: "
      "it is too small or too large where their errors go together",
      in_quotes(found->target)));
}

/// Writes a table, or prints it as JSON.
void write_lines(const PredictRequest& r, const JointModel& model, Table table, size_t exact) {
  if (!r.json) return print_or_write(r.out, std::move(table), exact);
  PredictionReport report{.task = "joint", .targets = model.targets()};
  if (r.draws == 0) report.levels = r.levels;
  if (!r.split.empty()) report.split = r.split;
  print_rows(std::move(report), std::move(table), exact);
}

void write_draws(const PredictRequest& r, const JointModel& model, const Table& table,
                 const JointAnswers& answers) {
  const at::Tensor draws = model.draws(answers, r.draws, Stream(r.seed));
  write_lines(r, model, draws_table(model, table, answers, draws), SIZE_MAX);
}

/// Writes the table of the answers. Returns what it shows, for the notes.
TableOptions write_answer_table(const PredictRequest& r, const JointModel& model, AskedRows asked,
                                const JointAnswers& answers, const std::vector<JointCondition>& conditions) {
  TableOptions shown{.kept = columns_named(r.keep, "predict", "--keep", asked.table),
                     .parts = r.parts,
                     .quantiles = r.quantiles};
  if (!conditions.empty())
    shown.more.push_back(probability_column(model, answers, conditions, asked.table.rows));
  note_independent_class(conditions);
  std::optional<JointRegion> region;
  if (r.region) region = model.region(answers, r.levels.front());
  const Examples rows = asked.table;
  AnswerTable answer = joint_answer_table(model, rows, answers, shown, region ? &*region : nullptr);
  add_numbers(std::move(asked.numbers), answer);
  if (r.on_bad_row == "skip") answer.table = take_rows(answer.table, answers.rows);
  if (r.json)
    for (const Model& one : model.models()) read_target(answer.table, one);
  write_lines(r, model, std::move(answer.table), answer.exact);
  if (region)
    log_line(fmt::format("note: {}", region_text(region->level, region->factor, region->conformal)));
  return shown;
}

}  // namespace

int predict_jointly(const PredictRequest& r, const JointModel& model) {
  check_asked_of_joint(r, model);
  const std::vector<JointCondition> conditions = conditions_of(r.probability, model);
  for (const Model& one : model.models()) log_interrupted(one);
  AskedRows asked = read_rows(r, model);
  const Examples rows = asked.table;
  AnswerRequest ask;
  if (r.draws == 0) ask = {levels_of(r), r.sets == "deterministic"};
  const JointAnswers answers = answers_with_progress("predict", model, rows, ask);
  check_rows_answered(r, model, rows, answers);
  TargetNotes notes(model.targets());
  for (size_t t = 0; t < model.models().size(); ++t)
    notes.add(t, notes_for(model.models()[t].encoder(), rows));
  if (r.draws > 0) {
    write_draws(r, model, asked.table, answers);
  } else {
    const TableOptions shown = write_answer_table(r, model, std::move(asked), answers, conditions);
    for (size_t t = 0; t < model.models().size(); ++t) {
      const Model& one = model.models()[t];
      TableOptions own = shown;
      if (one.schema().task.kind == TaskKind::classification) own.quantiles.clear();
      notes.add(t, answer_notes(one, rows, answers.marginal[t], own));
    }
  }
  for (const std::string& note : notes.sentences()) log_line("note: " + note);
  return kDone;
}

}  // namespace slimbayes::cli
