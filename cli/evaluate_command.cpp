#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

#include "cli/commands.h"
#include "cli/conditional_text.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/folds.h"
#include "cli/joint.h"
#include "cli/plots.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/segmentation.h"
#include "cli/terminal.h"
#include "cli/uncertainty_text.h"
#include "slimbayes/core/check.h"
#include "slimbayes/model/conditional/conditional_report.h"
#include "slimbayes/model/evaluation_report.h"
#include "slimbayes/model/held_out.h"
#include "slimbayes/model/persistence.h"
#include "slimbayes/model/separation.h"
#include "slimbayes/model/trust_notes.h"
#include "slimbayes/model/uncertainty.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

namespace fs = std::filesystem;

/// Handles the examples in `bad`, whose answer is not finite. Throws DataError for the first one; with
/// --on-bad-row skip, logs a note instead.
void check_answered(const EvaluateRequest& r, const Examples& examples, const std::vector<BadRow>& bad) {
  if (bad.empty()) return;
  if (r.on_bad_row == "error")
    throw_bad_example(examples,
                      {bad.front().row, bad.front().reason + "; --on-bad-row skip leaves such rows out"});
  log_line("note: " + bad_examples_text(examples, bad, "left out"));
}

/// Returns how many rows lie outside the range of the training data, and how far, and logs a note. Returns
/// nothing if the model does not know its training range.
std::optional<OutsideReport> outside_report(const Model& model, const Examples& examples) {
  const std::optional<Outside> far = outside(model.encoder(), examples);
  if (!far) return std::nullopt;
  OutsideReport report{far->rows, {}};
  for (const Outside::Beyond& column : far->columns)
    report.columns[column.name] = {column.rows, column.farthest};
  if (far->rows > 0) log_line("note: " + outside_text(*far, std::get<Table>(examples)));
  return report;
}

/// Reads the foreign data of --ood. The command reads two files, so error messages name this one.
Examples read_foreign(const EvaluateRequest& r, const Model& model, const ColumnChanges& changes,
                      SharedChanges& shared) try {
  return read_for(model, r.ood, data_source(), /*with_target=*/false, nullptr, {}, changes, &shared);
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument(
      fmt::format("the foreign data '{}' (--ood): {}", foreign_text(r.ood), error.what()));
}

/// Returns how well each score tells the foreign data from the evaluated data, for example its AUROC.
/// `near` holds the scores of the evaluated data.
SeparationReport separation_of(const EvaluateRequest& r, const Model& model, const Scores& near,
                               const Examples& foreign) try {
  const Answers far = answers_with_progress("evaluate --ood", model, foreign, {});
  check_answered(r, foreign, far.bad);
  SeparationReport ood = separation(model, near, model.ood(foreign, far));
  if (!far.bad.empty()) ood.left_out = far.bad.size();
  return ood;
} catch (const std::invalid_argument& error) {
  throw std::invalid_argument(
      fmt::format("the foreign data '{}' (--ood): {}", foreign_text(r.ood), error.what()));
}

/// Returns the report on the evaluated data: the metrics, and how well the scores tell the data of --ood.
EvaluationReport scored(const EvaluateRequest& r, const Model& model, const Examples& data,
                        const ColumnChanges& changes, SharedChanges& shared) {
  EvaluationReport out{.method = model.method(), .level = r.level};
  if (model.calibration().groups > 0) out.calibration = model.parts().adaptive ? "adaptive" : "conformal";
  if (!r.split.empty()) out.split = r.split;
  if (model.schema().task.grid) {
    check(r.by.empty(), "evaluate", "a model of numbers, counts or classes for `.by`", "one of segmentation",
          "leave it out");
    check(!r.conditional, "evaluate", "a model of numbers, counts or classes for `.conditional`",
          "one of segmentation", "leave it out");
    std::vector<BadRow> bad;
    out.metrics.evaluation = report_by_pixel(r, model, data, bad);
    check_answered(r, data, bad);
    return out;
  }
  const Answers near = answers_with_progress("evaluate", model, data, {{r.level}, r.sets == "deterministic"});
  check_answered(r, data, near.bad);
  out.metrics = {model.evaluate(data, near), uncertainty_of(model, data, near)};
  out.conditional = conditional_report(model, data, near, {r.by, r.conditional});
  if (const auto& classes = out.metrics.evaluation.classes; classes && classes->set_size) out.sets = r.sets;
  if (r.ood.empty()) return out;
  const Examples foreign = read_foreign(r, model, changes, shared);
  if (hash_of(foreign) == hash_of(data))
    log_note("the data of --ood are those that are scored: every AUROC is 0.5");
  out.ood = separation_of(r, model, model.ood(data, near), foreign);
  return out;
}

/// Prints the report as text, and the names of the plots.
void print_text(const EvaluateRequest& r, const Model& model, const EvaluationReport& report,
                const std::vector<fs::path>& plots) {
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  const auto& [metrics, uncertainty] = report.metrics;
  print(report_table(metrics, r.level, noun,
                     uncertainty ? uncertainty->epistemic : std::optional<EpistemicReport>()));
  print(segmentation_text(metrics));
  if (uncertainty) print(selective_text(*uncertainty, metrics.n, noun));
  print(conditional_text(report.conditional, r.level));
  if (report.ood) print(separation_text(*report.ood, r.ood));
  for (const fs::path& file : plots)
    print(fmt::format("{}{}\n", &file == &plots.front() ? "\n" : "", shown(file.string())));
}

}  // namespace

int run_command(const EvaluateRequest& r) {
  if (r.folds > 0) return score_folds(r);
  check_model_first("evaluate", r.model, r.data);
  const std::variant<Model, JointModel> loaded = load_asked(r.model);
  if (const auto* joint = std::get_if<JointModel>(&loaded)) return evaluate_jointly(r, *joint);
  const auto& model = std::get<Model>(loaded);
  log_interrupted(model);
  std::vector<std::string> notes;
  const ColumnChanges changes = column_changes(r.rename, r.fill);
  SharedChanges shared{changes, /*files_left=*/2};
  Examples data = read_for(model, r.data, data_source("evaluate", r.files, model), /*with_target=*/true,
                           &notes, {}, changes, r.ood.empty() ? nullptr : &shared);
  check_columns_of_groups(data, r.by);
  for (const std::string& note : notes) log_note(note);
  for (const std::string& note : notes_for(model.encoder(), data)) log_note(note);
  const bool fitted_on = hash_of(data) == model.data_hash();
  if (!r.split.empty())
    data = part_of(model, data, r.split);
  else if (fitted_on)
    log_line(fmt::format(
        "note: these data were fitted on, the training {}s are scored too; --split test scores what "
        "was held out",
        noun_of(data)));
  if (const std::string note = scored_weights_note(data, model.fit_options()); !note.empty()) log_note(note);
  if (PositiveExamples weighted = scored_examples(data, model.fit_options()); weighted.some)
    data = *std::move(weighted.some);
  const std::vector<fs::path> plots = plot_files(r.plots, model.schema().task, !r.ood.empty());
  EvaluationReport report = scored(r, model, data, changes, shared);
  const Evaluation& metrics = report.metrics.evaluation;
  for (const std::string& note : persistence_notes(metrics, windows_of_part(metrics.n, r.split)))
    log_note(note);
  report.outside = outside_report(model, data);
  if (!fitted_on || (!r.split.empty() && r.split != "train")) {  // the rows were not learned in training
    const std::string row = fmt::format("{}{}{}", r.split, r.split.empty() ? "" : " ", noun_of(data));
    const std::string few = few_scored(metrics.n, row, r.split == "test" ? kTestMore : "");
    if (!few.empty()) log_note(few);
    for (const std::string& note : trust_notes(model, {{metrics, row + "s", r.level, /*fresh=*/true}}))
      log_note(note);
  }
  for (const fs::path& file : plots) write_plot(file, report.metrics, report.ood);
  if (r.json)
    print(fields_to_json(std::move(report)));
  else
    print_text(r, model, report, plots);
  return kDone;
}

}  // namespace slimbayes::cli
