// fit of several targets: fits and writes the model (fit_joint), then prints the outcome.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli/edge.h"
#include "cli/fit_report.h"
#include "cli/joint.h"
#include "cli/joint_text.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/text_table.h"
#include "slimbayes/fit/fit_report.h"

namespace slimbayes::cli {
namespace {

/// Returns the outcome of the fit of one target, as that of a fit of it alone.
FitOutcome outcome_of(const JointOutcome& outcome, size_t target) {
  FitOutcome own;
  own.model = outcome.model->models()[target];
  if (outcome.valid) own.valid = outcome.valid->targets[target];
  if (outcome.test) own.test = outcome.test->targets[target];
  return own;
}

FitOfTarget report_of_target(const FitRequest& r, const JointOutcome& outcome, size_t target) {
  const FitOutcome own = outcome_of(outcome, target);
  FitReport one = fit_report(r, own);
  if (!r.valid.empty() && own.valid)
    one.rows.valid = own.valid->n + static_cast<int64_t>(own.valid->left_out.value_or(0));
  return {.target = own.model->target(),
          .method = one.method,
          .rows = one.rows,
          .summary = std::move(one.summary),
          .options = std::move(one.options),
          .conformal = one.conformal,
          .tuning = std::move(one.tuning),
          .noise = std::move(one.noise),
          .test = std::move(one.test),
          .valid = std::move(one.valid)};
}

/// Returns the names of the targets that are numbers or counts.
std::vector<std::string> scored_targets(const JointModel& model) {
  std::vector<std::string> names;
  for (const size_t t : model.scored()) names.push_back(model.models()[t].target());
  return names;
}

JointFitReport joint_fit_report(const FitRequest& r, const JointInputs& inputs, const JointOutcome& outcome) {
  const JointModel& model = *outcome.model;
  const SplitRows& split = model.parts().split;
  JointFitReport out{.model = r.model, .seed = r.fit.seed};
  out.rows = {train_rows(split), inputs.valid ? inputs.valid->rows : std::ssize(split.valid),
              std::ssize(split.test)};
  if (!split.calibration.empty()) out.rows.calibration = std::ssize(split.calibration);
  for (size_t t = 0; t < model.models().size(); ++t) out.targets.push_back(report_of_target(r, outcome, t));
  const ErrorCorrelation& of = model.correlation();
  out.correlation = {scored_targets(model), matrix_rows(of), of.shrinkage, of.rows};
  out.notes = outcome.notes;
  if (outcome.test) out.test = outcome.test->joint;
  if (outcome.valid) out.valid = outcome.valid->joint;
  return out;
}

/// Returns the scores of the targets as a table with a line for each, of the metrics that some of them has.
std::string scores_by_target(const JointModel& model, const JointReport& report, double level,
                             const std::string& part) {
  std::vector<std::map<std::string, double>> scores;
  for (const std::optional<Evaluation>& one : report.targets)
    scores.push_back(one ? field_numbers(*one) : std::map<std::string, double>());
  std::vector<std::vector<Cell>> rows = {{{part}, {"rows"}}};
  const std::vector<std::string> names = model.targets();
  for (size_t t = 0; t < names.size(); ++t)
    rows.push_back({{names[t]}, {fmt::format("{}", report.targets[t] ? report.targets[t]->n : 0)}});
  for (const char* metric : {"nll", "accuracy", "mae", "rmse", "crps", "coverage"}) {
    if (std::ranges::none_of(scores, [&](const auto& of) { return of.contains(metric); })) continue;
    const bool leveled = metric == std::string("coverage");
    rows[0].push_back({leveled ? fmt::format("{} at {:g} %", metric, 100 * level) : metric});
    for (size_t t = 0; t < names.size(); ++t) {
      const auto found = scores[t].find(metric);
      rows[t + 1].push_back({found == scores[t].end() ? "-" : rounded(found->second)});
    }
  }
  return text_table(rows);
}

/// Returns for each target what its fit says of itself: a line, and further ones for its choices.
std::string summaries_text(const JointModel& model, double level) {
  std::string text;
  for (const Model& one : model.models()) {
    std::string lines = fmt::format("{}: {}\n", one.method(), one.fitted().summary().brief("row"));
    lines += choices_text(one, level);
    for (size_t at = 0, end = 0; at < lines.size(); at = end + 1) {
      end = std::min(lines.find('\n', at), lines.size());
      text += fmt::format("{}: {}\n", shown(one.target()), lines.substr(at, end - at));
    }
  }
  return text;
}

void print_joint_outcome(const FitRequest& r, const JointInputs& inputs, const JointOutcome& outcome) {
  if (r.json) return print(fields_to_json(joint_fit_report(r, inputs, outcome)));
  const JointModel& model = *outcome.model;
  print(fitted_to(STDOUT_FILENO, fmt::format("{}: {} targets\n{}", shown(r.model), model.models().size(),
                                             summaries_text(model, r.fit.level))));
  const std::optional<JointReport>& scored = outcome.test ? outcome.test : outcome.valid;
  const std::string part = outcome.test ? "test" : "validation";
  if (scored) print("\n" + scores_by_target(model, *scored, r.fit.level, part));
  const std::string correlation = correlation_text(scored_targets(model), model.correlation());
  if (!correlation.empty()) print("\n" + correlation);
  if (scored && scored->joint) print(fitted_to(STDOUT_FILENO, joint_line(*scored->joint, part)));
}

}  // namespace

int fit_jointly(const FitRequest& r, const FitFile& file, const JointInputs& inputs) {
  const Table* const valid = inputs.valid ? &*inputs.valid : nullptr;
  std::optional<JointOutcome> outcome;
  {
    ProgressPrinter progress("");
    outcome = fit_joint(file, inputs.train, inputs.request, valid, inputs.notes, progress);
  }
  if (!outcome->model) return kInterrupted;
  for (const std::string& note : outcome->notes) log_note(note);  // those on the correlation are new
  print_joint_outcome(r, inputs, *outcome);
  return kDone;
}

}  // namespace slimbayes::cli
