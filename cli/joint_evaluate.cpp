// evaluate of a model of several targets.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/joint.h"
#include "cli/joint_text.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/text_table.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/joint/joint_scores_report.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

/// Refuses flags that a model of several targets does not take.
void check_scored_of_joint(const EvaluateRequest& r) {
  const std::pair<bool, const char*> flags[] = {
      {!r.ood.empty(), "--ood"},        {!r.plots.empty(), "--plots"},   {!r.by.empty(), "--by"},
      {r.conditional, "--conditional"}, {!r.rename.empty(), "--rename"}, {!r.fill.empty(), "--fill"}};
  for (const auto& [given, flag] : flags)
    if (given)
      refuse("evaluate", fmt::format("a model of one target for {}", flag), "one of several", "leave it out");
}

/// The scores of the rows in which a target is known, and whether the fit has seen none of them.
struct Scoring {
  const EvaluateRequest& request;
  const JointModel& model;
  bool fresh = false;
  TargetNotes notes = TargetNotes(model.targets());
};

/// Returns the scores of one target, and adds the notes on them.
TargetScores scores_of_target(Scoring& all, size_t target, const Table& table) {
  const EvaluateRequest& r = all.request;
  const Model& model = all.model.models()[target];
  TargetScores out{.target = model.target(), .method = model.method()};
  KnownRows known = known_rows(table, model.target());
  if (known.places.empty()) return out;
  Examples rows = std::move(known.table);
  if (const std::string note = scored_weights_note(rows, model.fit_options()); !note.empty())
    all.notes.add(target, {note});
  if (PositiveExamples weighted = scored_examples(rows, model.fit_options()); weighted.some)
    rows = *std::move(weighted.some);
  const Answers answers =
      answers_with_progress("evaluate", model, rows, {{r.level}, r.sets == "deterministic"});
  if (!answers.bad.empty()) {
    const BadRow& first = answers.bad.front();
    if (r.on_bad_row == "error")
      throw_bad_example(rows, {first.row, fmt::format("{}: {}; --on-bad-row skip leaves such rows out",
                                                      foreign_text(model.target()), first.reason)});
    all.notes.add(target, {bad_examples_text(rows, answers.bad, "left out")});
  }
  all.notes.add(target, notes_for(model.encoder(), rows));
  out.metrics = model.evaluate(rows, answers);
  if (!all.fresh) return out;
  const std::string row = r.split.empty() ? "row" : r.split + " row";
  const std::string few = few_scored(out.metrics->n, row, r.split == "test" ? kTestMore : "");
  if (!few.empty()) all.notes.add(target, {few});
  all.notes.add(target, trust_notes(model, {{*out.metrics, row + "s", r.level, /*fresh=*/true}}));
  return out;
}

/// Returns the metrics as a table with a column for each target.
std::string scores_table(const JointScoresReport& report) {
  std::map<std::string, double> any;
  std::vector<std::map<std::string, double>> scores;
  std::vector<std::vector<Cell>> rows = {{{""}}, {{"rows"}}};
  for (const TargetScores& one : report.targets) {
    scores.push_back(one.metrics ? field_numbers(*one.metrics) : std::map<std::string, double>());
    any.insert(scores.back().begin(), scores.back().end());
    rows[0].push_back({one.target});
    rows[1].push_back({fmt::format("{}", one.metrics ? one.metrics->n : 0)});
  }
  for (const std::string& key : metrics_of(any)) {
    const auto has = std::ranges::find_if(scores, [&](const auto& of) { return of.contains(key); });
    const Evaluation& first = *report.targets[static_cast<size_t>(has - scores.begin())].metrics;
    const bool of_class = key == "base_rate" || key == "f1";  // whose label would name one target's class
    rows.push_back({{of_class ? key : label_of(key, first, report.level, "row")}});
    for (const auto& of : scores) {
      const auto found = of.find(key);
      rows.back().push_back({found == of.end() ? "-" : rounded(found->second)});
    }
  }
  return text_table(rows);
}

}  // namespace

int evaluate_jointly(const EvaluateRequest& r, const JointModel& model) {
  check_scored_of_joint(r);
  for (const Model& one : model.models()) log_interrupted(one);
  std::vector<std::string> notes;
  Table table = read_for(model, r.data, data_source("evaluate", r.files), /*with_targets=*/true, &notes);
  for (const std::string& note : notes) log_note(note);
  const Examples whole = table;
  const bool fitted_on = hash_of(whole) == model.parts().data_hash;
  if (!r.split.empty())
    table = take_rows(table, rows_of_part(model, whole, r.split));
  else if (fitted_on)
    log_note(
        "these data were fitted on, the training rows are scored too; --split test scores what was held out");
  Scoring scoring{r, model, !fitted_on || (!r.split.empty() && r.split != "train")};
  JointScoresReport report{.level = r.level};
  for (size_t t = 0; t < model.models().size(); ++t)
    report.targets.push_back(scores_of_target(scoring, t, table));
  if (std::ranges::none_of(report.targets, [](const TargetScores& one) { return one.metrics.has_value(); }))
    throw DataError(table.source, "expected rows with a value in one of the targets; received none");
  report.joint =
      model.evaluate_jointly(table, answers_with_progress("evaluate", model, Examples(table), {}), r.level);
  if (!model.scored().empty()) report.region = model.parts().region.groups > 0 ? "conformal" : "correlation";
  if (!r.split.empty()) report.split = r.split;
  for (const std::string& note : scoring.notes.sentences()) log_note(note);
  if (r.json)
    print(fields_to_json(std::move(report)));
  else
    print(scores_table(report) + (report.joint ? "\n" + joint_table(*report.joint) : ""));
  return kDone;
}

}  // namespace slimbayes::cli
