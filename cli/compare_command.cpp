// compare: fits every method with every seed on one split, so that only the method differs. A method that
// fails is reported with its message; the command fails only if all methods fail.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/workflow/fit_file.h"
#include "slimbayes/workflow/fit_notes.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

json one_run(const CompareRequest& r, const CompareRequest::Entry& entry, const Examples& data, uint64_t seed,
             std::vector<std::string> notes) {
  const auto start = std::chrono::steady_clock::now();
  ProgressPrinter progress(fmt::format("{} seed {}", entry.method, seed));
  FitOptions fit = r.fit;
  fit.method = entry.method;
  fit.options = entry.options;
  fit.seed = seed;
  fit.threads = kAllCores;  // run_checked set the threads for the whole command
  const Model model = fit_model(data, fit, nullptr, &progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check(!model.split().test.empty(), "compare", "test rows", "none", "use a --test-fraction above 0");
  json report = report_on(model, take(data, model.split().test), r.fit.level, notes);
  const json valid = report_on(model, take(data, model.split().valid), r.fit.level, notes);
  report["notes"] = notes;
  for (std::string& note : fit_notes(model, valid)) report["notes"].push_back(note);
  report["seed"] = seed;
  report["seconds"] = seconds;
  return report;
}

Outcome all_runs(const CompareRequest& r, const CompareRequest::Entry& entry, const Examples& data,
                 const std::vector<std::string>& notes) {
  Outcome outcome{entry.method, {}, "", nullptr};
  const int seeds = entry.seeded ? r.seeds : 1;  // a deterministic method gives the same fit each time
  try {
    for (int seed = 0; seed < seeds && !InterruptGuard::interrupted(); ++seed) {
      json run = one_run(r, entry, data, static_cast<uint64_t>(seed), notes);
      if (!InterruptGuard::interrupted()) outcome.runs.push_back(std::move(run));
    }
  } catch (const c10::Error& error) {
    outcome.failure = error.what_without_backtrace();
    outcome.thrown = std::current_exception();
  } catch (const std::exception& error) {
    outcome.failure = error.what();
    outcome.thrown = std::current_exception();
  }
  return outcome;
}

json json_of(const CompareRequest& r, const std::vector<Outcome>& outcomes) {
  json answer = comparison_json(outcomes);
  answer.update({{"data", r.data}, {"target", r.fit.target}, {"seeds", r.seeds}, {"level", r.fit.level}});
  if (InterruptGuard::interrupted()) answer["interrupted"] = true;
  return answer;
}

/// Returns the methods to compare: all methods that take the data. Throws std::invalid_argument if the user
/// named a method that does not.
std::vector<CompareRequest::Entry> chosen(const CompareRequest& r, const Examples& data) {
  const TaskKind task = task_asked(data, r.fit);
  const InputKind kind = kind_asked(data, r.fit);
  std::vector<CompareRequest::Entry> out;
  for (const auto& entry : r.methods) {
    const MethodInfo& info = find_method(entry.method);
    const bool taken = takes(info, task, entry.options) && takes(info, kind, entry.options);
    check(taken || !r.named, "compare",
          fmt::format("methods for {}{}", name_of(task),
                      kind == InputKind::table ? "" : fmt::format(" of {}", name_of(kind))),
          in_quotes(entry.method), methods_taking(task, kind) + " take it");
    if (taken) out.push_back(entry);
  }
  return out;
}

}  // namespace

int run_command(const CompareRequest& request) {
  CompareRequest r = request;
  std::vector<std::string> notes;  // notes on the table
  Examples data = read_training(r.data, r.fit, data_source(), &notes);
  for (const std::string& note : notes) log_note(note);
  check_target(data, r.fit);
  data = examples_of(std::move(data), r.fit);
  InterruptGuard interrupt;
  std::vector<Outcome> outcomes;
  bool any = false;
  const std::vector<CompareRequest::Entry> methods = chosen(r, data);
  for (const auto& entry : methods) {
    if (InterruptGuard::interrupted()) break;
    outcomes.push_back(all_runs(r, entry, data, notes));
    any = any || outcomes.back().failure.empty();
  }
  if (!any && !outcomes.empty()) std::rethrow_exception(outcomes.front().thrown);
  if (InterruptGuard::interrupted()) {
    std::erase_if(outcomes, [](const Outcome& each) { return each.runs.empty() && each.failure.empty(); });
    log_line(fmt::format("interrupted: {} of {} methods, the last perhaps with fewer fits", outcomes.size(),
                         methods.size()));
  }
  for (const Outcome& each : outcomes) {
    if (!each.failure.empty())
      log_line(fmt::format("{} failed: {}", each.method, each.failure.substr(0, each.failure.find('\n'))));
  }
  for (const SharedNote& note : shared_notes(outcomes)) log_note(note.text, note.of);
  r.json ? print(json_of(r, outcomes)) : print(comparison_table(outcomes, r.fit.level));
  return InterruptGuard::interrupted() ? kInterrupted : kDone;
}

}  // namespace slimbayes::cli
