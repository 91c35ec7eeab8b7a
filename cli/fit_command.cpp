// fit: fits a model to data and writes it to a file. FitFile (slimbayes/workflow/fit_file.h) does the work;
// this file prints the outcome.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/fit_report.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/workflow/fit_file.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

void print_outcome(const FitRequest& r, const FitOutcome& outcome, int64_t own_valid_rows) {
  const Model& model = *outcome.model;
  const SplitRows& split = model.split();
  const std::string noun(noun_of(kind_of(model.encoder())));
  if (!r.json) {
    print(fitted_to(STDOUT_FILENO,
                    fmt::format("{}: {}\n{}", shown(r.model), model.fitted().summary().brief(noun),
                                choices_text(model, r.fit.level))));
    if (outcome.test.is_null()) print(fitted_to(STDOUT_FILENO, forecasts_text(outcome.valid, "validation")));
    if (!outcome.test.is_null())
      print(fmt::format("\ntest {}s\n{}", noun, report_table(outcome.test, r.fit.level, noun)));
    return;
  }
  json out = {{"method", model.method()},
              {"model", r.model},
              {"seed", r.fit.seed},
              {"rows",
               {{"train", split.train.size()},
                {"valid", own_valid_rows > 0 ? own_valid_rows : std::ssize(split.valid)},
                {"test", split.test.size()}}},
              {"summary", to_json(model.fitted().summary())},
              {"options", model.options()},
              {"notes", outcome.notes}};
  out["summary"]["seconds"] = model.fitted().summary().seconds;
  if (const auto rows = split.calibration.size(); rows > 0) {
    out["rows"]["calibration"] = rows;
    out["calibration"] = r.fit.calibrate;
  }
  out.update(choices_json(model, r.fit.level));
  if (!model.noise().empty()) out["noise"] = to_json(model.noise());
  if (!model.noise().empty() && model.noise().folds == 0)
    out["noise"].update({{"var", nullptr}, {"sd", nullptr}});  // not estimated
  if (!outcome.test.is_null()) out["test"] = outcome.test;
  if (!outcome.valid.is_null()) out["valid"] = outcome.valid;
  print(out);
}

/// Removes the options of the network that no flag gave: those of a preset do not concern a network at hand.
void leave_to_network(const json& given, json& options) {
  for (const OptionDoc& doc : option_docs<TrainedNetworkOptions>())
    if (!given.contains(doc.name)) options.erase(doc.name);
}

}  // namespace

int run_command(const FitRequest& r) {
  check(r.model != "-", "fit", "a file name for --model", "'-'", "a model is no text; name a file");
  check_not_input("fit", "--model", r.model, r.train);
  check_not_input("fit", "--model", r.model, r.valid);
  check_not_input("fit", "--model", r.model, r.fit.network_from);
  check_replaces_model("fit", "--model", r.model);
  InterruptGuard interrupt;  // before the lock, whose file a killed process leaves behind
  const FitFile file(r.model, r.resume, r.checkpoint_every);
  FitOptions fit = with_network_from(r.fit);
  fit.threads = kAllCores;  // run_checked set the threads for the command, the final reports included
  std::vector<std::string> notes;
  Examples train = read_training(r.train, fit, data_source(), &notes);
  const MethodInfo& info = method_named(train, fit);
  if (!r.preset.empty()) fit.options = preset_options(info, r.preset, r.fit.options);
  if (!fit.network_from.empty()) leave_to_network(r.fit.options, fit.options);
  if (r.tune) fit.tune = tunable_options(info, r.fit.options);
  train = examples_of(std::move(train), fit);
  std::optional<Examples> valid;
  if (!r.valid.empty()) valid = read_validation(r.valid, train, fit, data_source(), &notes);

  ProgressPrinter progress(info.name);
  const FitOutcome outcome = file.fit(train, fit, valid ? &*valid : nullptr, notes, progress);
  if (outcome.interrupted) return kInterrupted;
  const json& scored = outcome.valid;
  const int64_t own =
      valid && !scored.is_null() ? scored.at("n").get<int64_t>() + scored.value("left_out", int64_t{0}) : 0;
  print_outcome(r, outcome, own);
  return kDone;
}

}  // namespace slimbayes::cli
