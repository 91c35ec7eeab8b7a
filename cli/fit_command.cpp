// fit: fits a model to data and writes it to a file. The steps are: lock the model file, read the data,
// resolve the request (make all choices that flags leave open), fit and write the model (FitFile in
// slimbayes/fit/fit_file.h), print the results.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/files.h"
#include "cli/fit_report.h"
#include "cli/joint.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/segmentation.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/fit/fit_file.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/fit/stream_training.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/collective.h"

namespace slimbayes::cli {
namespace {

void print_outcome(const FitRequest& r, const FitOutcome& outcome, int64_t own_valid_rows,
                   const ResolvedFit& request) {
  const Model& model = *outcome.model;
  const std::string noun(noun_of(kind_of(model.encoder())));
  if (!r.json) {
    print(fitted_to(STDOUT_FILENO,
                    fmt::format("{}: {}\n{}", shown(r.model), model.fitted().summary().brief(noun),
                                choices_text(model, r.fit.level))));
    if (outcome.test)
      print(fmt::format("\ntest {}s\n{}{}", noun, report_table(*outcome.test, r.fit.level, noun),
                        segmentation_text(*outcome.test)));
    else if (outcome.valid)
      print(fitted_to(STDOUT_FILENO, forecasts_text(*outcome.valid, "validation")));
    return;
  }
  FitReport out = fit_report(r, outcome);
  if (own_valid_rows > 0) out.rows.valid = own_valid_rows;
  if (const Collective* ranks = request.ranks.get())
    out.ranks = {ranks->size(), shared_by_ranks(request) == Parallel::jobs ? "jobs" : "rows",
                 ranks->seconds()};
  print(fields_to_json(std::move(out)));
}

/// The data of a fit and its request, in which every choice has been made; of several targets `joint` alone.
struct FitInputs {
  std::optional<ResolvedFit> request;
  Examples train;
  std::optional<Examples> valid;   // data of --valid
  std::vector<std::string> notes;  // notes on the data, from reading them
  std::optional<JointInputs> joint = {};
};

/// Returns whether a fit with these options is one of several targets.
bool is_of_several(const FitOptions& fit, const Examples& train) {
  const auto* table = std::get_if<Table>(&train);
  return table != nullptr && targets_of(fit, *table).size() > 1;
}

/// Reads the validation data of a fit of several targets, which one process makes.
JointInputs joint_inputs(const FitRequest& r, const FitOptions& fit, const Examples& train,
                         std::vector<std::string> notes, bool alone) {
  check(alone, "fit", "one process for several targets", "several", "start fit without torchrun");
  JointInputs inputs{.request = {fit, {r.preset, r.tune}}, .train = std::get<Table>(train)};
  if (!r.valid.empty())
    inputs.valid = std::get<Table>(read_validation(r.valid, train, fit, data_source(), &notes));
  inputs.notes = std::move(notes);
  return inputs;
}

/// Reads the files of `--cache` for the first time.
std::shared_ptr<const StreamedRows> streamed_rows(const FitRequest& r, FitOptions& fit,
                                                  const Collective* ranks) {
  AnswerProgress shown("reading");
  return stream_training({.files = {r.files.begin(), r.files.end()},
                          .source = name_of_files(r.files),
                          .limits = limits_of_tables(),
                          .cache = {r.cache, r.shuffle_rows},
                          .own_valid = !r.valid.empty(),
                          .ranks = ranks},
                         fit, [&](double share) {
                           if (InterruptGuard::interrupted())
                             throw Interrupted("interrupted while the files were read");
                           if (share > 0) shown.report(std::min(share, 1.0));
                         });
}

/// Reads the data, then resolves the request: makes the choices that the flags leave open. The data are read
/// first, because the target's column may decide the method.
FitInputs read_inputs(const FitRequest& r, const std::shared_ptr<const Collective>& ranks) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::string> notes;
  std::shared_ptr<const Model> network;
  FitOptions fit = r.fit;
  together(ranks.get(), [&] {
    network = network_asked(r.fit);
    if (network) fit = with_network_from(r.fit, *network);
    fit.workers = ranks ? 1 : fit_workers(r.fit, {{r.fit.method, r.fit.options}});
  });
  fit.threads = kThreadsOfProcess;  // run_checked set the threads for the whole command, reports included
  std::shared_ptr<const StreamedRows> streamed =
      r.cache.empty() ? nullptr : streamed_rows(r, fit, ranks.get());
  std::optional<FitInputs> read;
  together(ranks.get(), [&] {
    Examples train = streamed ? examples_of(streamed->table().rows, fit)
                              : read_training(r.train, fit, data_source("fit", r.files), &notes);
    if (!streamed && is_of_several(fit, train)) {
      read.emplace().joint = joint_inputs(r, fit, train, std::move(notes), ranks == nullptr);
      return;
    }
    ResolvedFit request = resolve_fit(train, fit, {r.preset, r.tune}, network);
    request.began = began;
    request.ranks = ranks;
    request.streamed = std::move(streamed);
    request.parallel = r.parallel == "jobs"   ? Parallel::jobs
                       : r.parallel == "rows" ? Parallel::rows
                                              : Parallel::by_size;
    std::optional<Examples> valid;
    if (!r.valid.empty()) valid = read_validation(r.valid, train, request.fit, data_source(), &notes);
    read = {std::move(request), std::move(train), std::move(valid), std::move(notes)};
  });
  return *std::move(read);
}

/// Checks that the model file to write is not one of the input files and does not replace a file of another
/// kind. Throws std::invalid_argument otherwise.
void check_model_file(const FitRequest& r) {
  check(r.model != "-", "fit", "a file name for --model", "'-'", "a model is no text; name a file");
  for (const std::string& file : r.files) check_not_input("fit", "--model", r.model, file);
  check_not_input("fit", "--model", r.model, r.valid);
  check_not_input("fit", "--model", r.model, r.fit.network_from);
  check_replaces_model("fit", "--model", r.model);
}

/// Says what to do if processes that share the rows have waited for messages most of the time.
void note_messages(const Collective& ranks, const ResolvedFit& request, const Model& model) {
  const double whole = model.fitted().summary().seconds, waited = ranks.seconds();
  if (whole < 1 || waited < whole / 2 || shared_by_ranks(request) == Parallel::jobs) return;
  log_note(fmt::format(
      "messages between the processes took {:.0f} % of the time: one process may be as fast, and "
      "`.sync_every=8` sends fewer of them, which may cost the fit a little accuracy: between two averages "
      "each process makes steps of its own",
      100 * std::min(1.0, waited / whole)));
}

/// Throws, as together() does, unless all ranks read rows in the same way: with `--cache` they exchange
/// messages while they read.
void check_reading(const FitRequest& request, const Collective& ranks) {
  const std::vector<std::string> all =
      gather_texts(ranks, request.cache.empty() ? "no `.cache`" : "`.cache`");
  together(&ranks, [&] {
    for (size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        refuse("ranks", fmt::format("{} on every rank, as on rank 0", all[0]),
               fmt::format("{} on rank {}", all[r], r), "start all ranks with the same command");
  });
}

}  // namespace

int run_command(const FitRequest& r) {
  const std::shared_ptr<const Collective> ranks = ranks_of(r.rank);
  const bool first = r.rank.number == 0;
  if (ranks != nullptr) check_reading(r, *ranks);
  InterruptGuard interrupt;  // before the lock, because a killed process leaves the lock's file behind
  std::optional<FitFile> file;
  together(ranks.get(), [&] {
    if (first) check_model_file(r);
    file.emplace(r.model, r.resume, r.checkpoint_every, first);
  });
  const FitInputs inputs = read_inputs(r, ranks);
  if (inputs.joint) return fit_jointly(r, *file, *inputs.joint);
  const ResolvedFit& asked = *inputs.request;
  const Examples* const valid = inputs.valid ? &*inputs.valid : nullptr;
  if (!first) {
    Follower follower;
    return file->fit(asked, inputs.train, valid, {}, follower).interrupted ? kInterrupted : kDone;
  }
  ProgressPrinter progress(asked.method->name);
  const FitOutcome outcome = file->fit(asked, inputs.train, valid, inputs.notes, progress);
  if (outcome.interrupted) return kInterrupted;
  if (ranks != nullptr) note_messages(*ranks, asked, *outcome.model);
  const std::optional<Evaluation>& scored = outcome.valid;
  const int64_t own =
      inputs.valid && scored ? scored->n + static_cast<int64_t>(scored->left_out.value_or(0)) : 0;
  print_outcome(r, outcome, own, asked);
  return kDone;
}

}  // namespace slimbayes::cli
