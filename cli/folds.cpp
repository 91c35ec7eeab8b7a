// evaluate --folds: a cross-validation of a model's method and options, which is a comparison of one method.
#include "cli/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/text_table.h"
#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/comparison_report.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/model/data_file.h"

namespace slimbayes::cli {
namespace {

/// Throws std::invalid_argument for flags that score one model or change its data: the folds are fits.
void check_folds_alone(const EvaluateRequest& r) {
  const std::pair<bool, const char*> flags[] = {
      {!r.split.empty(), "--split"},     {!r.ood.empty(), "--ood"},
      {!r.plots.empty(), "--plots"},     {!r.by.empty(), "--by"},
      {r.conditional, "--conditional"},  {!r.rename.empty(), "--rename"},
      {!r.fill.empty(), "--fill"},       {r.on_bad_row != "error", "--on-bad-row"},
      {r.sets != "randomised", "--sets"}};
  for (const auto& [given, flag] : flags)
    check(!given, "evaluate", "--folds with --level, --json, --threads and --device alone", flag,
          "leave it out");
}

/// Returns the options of the fits: those of the model's own.
FitOptions options_of_folds(const EvaluateRequest& r, const Model& model) {
  check(kind_of(model.encoder()) != InputKind::windows, "evaluate", "rows, images or texts for --folds",
        "windows of a time series, which is split by time", "leave it out, and score later data");
  FitOptions fit = model.fit_options();
  check(fit.network_from.empty(), "evaluate", "a model whose fit trained its own network, for --folds",
        "one around the network of another model, which has seen rows of every fold", "leave it out");
  check(fit.split != "time", "evaluate", "a model whose rows were not split by time, for --folds",
        "one of --split time", "leave it out, and score later rows, or those of --split test");
  fit.level = r.level;
  fit.test_fraction = 1.0 / r.folds;
  fit.threads = kThreadsOfProcess;  // run_checked (run.cpp) set the threads already
  fit.device = answering_device();
  fit.workers = fit_workers(fit, {{model.method(), model.options()}});
  return fit;
}

/// Returns how the data are read. Columns that the model ignores, or takes as names, and that the data lack,
/// are taken out of `fit`: nothing is asked of them, and evaluate has no flag to name others.
DataSource source_of_folds(const EvaluateRequest& r, const Model& model, FitOptions& fit) {
  DataSource source = data_source("evaluate", r.files, model);
  source.read = [&fit, read = source.read](const std::string& path, const Reading& reading) {
    Table table = read(path, reading);
    for (auto* list : {&fit.ignore, &fit.categorical})
      std::erase_if(*list, [&](const std::string& name) { return table.find(name) == nullptr; });
    return table;
  };
  return source;
}

/// Prints the notes of the fits, and whose options they name: evaluate has none of them.
void log_notes(const std::vector<MethodRuns>& results) {
  const auto names_option = [](const std::string& note) {
    return std::ranges::any_of(message_parts(note, OptionStyle::flags), &MessagePart::option);
  };
  bool named = false;
  for (const SharedNote& note : shared_notes(results)) {
    log_shared_note(note.text, note.of);
    named = named || names_option(note.text);
  }
  if (named)
    log_note(
        "the options that these notes name are those of fit: fit the model anew with them, and score that");
}

/// Sums of a metric over folds.
struct MetricSums {
  double folds = 0, rows = 0, by_rows = 0, sum = 0, squares = 0;
};

/// Sets the scores of the report from its runs, pooled by their rows or, with weights, by the weights of
/// these. A root mean square is pooled as the mean square.
void pool_scores(FoldsReport& report) {
  std::map<std::string, MetricSums> all;
  for (const MethodRun& run : report.runs) {
    report.n += run.report.n;
    const double n = run.report.total_weight.value_or(static_cast<double>(run.report.n));
    for (const auto& [name, value] : field_numbers(run.report)) {
      if (name == "total_weight" || name == "effective_rows") continue;
      MetricSums& of = all[name];
      of.folds += 1;
      of.rows += n;
      of.by_rows += n * (name.starts_with("rmse") ? value * value : value);
      of.sum += value;
      of.squares += value * value;
    }
  }
  const auto folds = static_cast<double>(report.runs.size());
  for (const auto& [name, of] : all) {
    if (of.folds < folds) continue;  // a metric that some fold does not define
    const double mean = of.by_rows / of.rows;
    report.pooled[name] = name.starts_with("rmse") ? std::sqrt(mean) : mean;
    if (folds < 2) continue;
    double squares = 0;
    for (const MethodRun& run : report.runs)
      squares += std::pow(field_numbers(run.report).at(name) - of.sum / folds, 2);
    report.sd[name] = std::sqrt(squares / (folds - 1));
  }
}

/// Returns the scores as a text table: a metric a line, over all folds and its sd over the folds.
std::string folds_table(const FoldsReport& report, std::string_view noun) {
  std::vector<std::vector<Cell>> rows = {
      {{fmt::format("{} in {} folds", counted(report.n, noun), report.runs.size())},
       {"all"},
       {"sd over folds"}}};
  for (const std::string& key : metrics_of(report.pooled)) {
    const auto sd = report.sd.find(key);
    rows.push_back({{label_of(key, report.runs.front().report, report.level, noun)},
                    {rounded(report.pooled.at(key))},
                    {sd == report.sd.end() ? "-" : rounded(sd->second)}});
  }
  return text_table(rows);
}

}  // namespace

int score_folds(const EvaluateRequest& r) {
  check_folds_alone(r);
  check_model_first("evaluate", r.model, r.data);
  const Model model = load_model("evaluate --folds", r.model);
  FitOptions fit = options_of_folds(r, model);
  std::vector<std::string> notes;
  const Examples data = read_training(r.data, fit, source_of_folds(r, model, fit), &notes);
  for (const std::string& note : notes) log_shared_note(note);
  const InterruptGuard interrupt;
  std::vector<MethodRuns> results;
  bool interrupted = false;
  {
    ProgressPrinter progress("", /*of_several=*/true);
    results = compare(data, fit, {{model.method(), model.options()}},
                      {.seeds = 1, .repeats = 1, .folds = r.folds}, notes, &progress);
    interrupted = progress.stop();
  }
  if (!results.empty() && results.front().thrown) std::rethrow_exception(results.front().thrown);
  if (interrupted)
    log_line(fmt::format("interrupted: {} of {} folds", results.empty() ? 0 : results.front().runs.size(),
                         r.folds));
  if (results.empty()) return kInterrupted;
  log_notes(results);
  FoldsReport report{.method = model.method(), .data = r.data, .folds = r.folds, .level = r.level};
  report.runs = std::move(results.front().runs);
  if (interrupted) report.interrupted = true;
  pool_scores(report);
  if (r.json)
    print(fields_to_json(std::move(report)));
  else
    print(folds_table(report, noun_of(data)));
  return interrupted ? kInterrupted : kDone;
}

}  // namespace slimbayes::cli
