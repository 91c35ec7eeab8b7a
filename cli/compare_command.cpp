// compare: fits every method with every seed on the same split, so that only the method differs. If a method
// fails, the command prints its error message, shows the results of the other methods, and returns exit code
// 1. Under torchrun the ranks share the fits, and rank 0 prints.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/fit/comparison.h"
#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/storage/error.h"

namespace slimbayes::cli {
namespace {

/// The share of the examples that a fit is tested on.
double tested_share(const CompareRequest& r) { return r.folds > 0 ? 1.0 / r.folds : r.fit.test_fraction; }

ComparisonReport report_of(const CompareRequest& r, const std::vector<MethodRuns>& results,
                           bool interrupted) {
  ComparisonReport report = comparison_report(results);
  report.data = r.data;
  report.target = r.fit.target;
  report.seeds = r.seeds;
  report.repeats = r.repeats;
  report.folds = r.folds;
  report.level = r.fit.level;
  if (const auto pair = leading_pair(results, tested_share(r))) {
    const PairedDifference& d = pair->difference;
    report.leading = LeadingFact{.first = pair->first,
                                 .second = pair->second,
                                 .difference = d.mean,
                                 .standard_error = d.standard_error,
                                 .bound = d.bound,
                                 .splits = d.splits,
                                 .decided = d.decided()};
  }
  if (interrupted) report.interrupted = true;
  return report;
}

void log_failures(const std::vector<MethodRuns>& results) {
  for (const MethodRuns& each : results) {
    if (!each.failure.empty())
      print_error(fmt::format("{} failed: {}", each.method,
                              without_functions(each.failure.substr(0, each.failure.find('\n')))));
  }
}

/// Returns a sentence on the two methods with the lowest NLL; "" for one split.
std::string leading_text(const std::vector<MethodRuns>& results, double test_fraction) {
  const auto pair = leading_pair(results, test_fraction);
  if (!pair) return "";
  const PairedDifference& d = pair->difference;
  return fmt::format(
      "\nnll of {} below that of {} by {:.3g} +- {:.2g} (standard error over {} splits that share rows): "
      "{}\n",
      pair->first, pair->second, -d.mean, d.standard_error, d.splits,
      d.decided() ? "decided at 95 %" : fmt::format("undecided, the 95 % bound is {:.2g}", d.bound));
}

/// What is compared.
struct ComparedInputs {
  std::vector<std::string> notes;  // on the data
  Examples data;
  std::vector<MethodChoice> methods;
};

/// Reads the data and chooses the methods. The data complete the options of `r` (read_training).
ComparedInputs read_compared(CompareRequest& r) {
  std::vector<std::string> notes;
  Examples data = read_training(r.data, r.fit, data_source(), &notes);
  if (const auto* table = std::get_if<Table>(&data); table && targets_of(r.fit, *table).size() > 1)
    refuse("compare", "one target", fmt::format("several, {}", in_quotes(r.fit.target)),
           "compare the methods on each target by itself; fit takes several");
  if (r.rank.number == 0)
    for (const std::string& note : notes) log_shared_note(note);
  std::vector<MethodChoice> methods = methods_to_compare(data, r.fit, r.methods, r.named);
  return {std::move(notes), std::move(data), std::move(methods)};
}

/// Runs fits for rank 0, which has the results.
int serve_fits(const std::function<std::vector<MethodRuns>(Callback&)>& compared) {
  Follower follower;
  try {
    compared(follower);
  } catch (const JobsServed&) {
  }
  return follower.stop() ? kInterrupted : kDone;
}

}  // namespace

int run_command(const CompareRequest& request) {
  CompareRequest r = request;
  const std::shared_ptr<const Collective> ranks = ranks_of(r.rank);
  r.fit.threads = kThreadsOfProcess;  // run_checked (run.cpp) set the threads already
  std::optional<ComparedInputs> inputs;
  together(ranks.get(), [&] { inputs = read_compared(r); });
  r.fit.workers = ranks ? 1 : fit_workers(request.fit, inputs->methods);
  const auto compared = [&](Callback& callback) {
    return compare(inputs->data, r.fit, inputs->methods, {r.seeds, r.repeats, r.folds}, inputs->notes,
                   &callback, ranks.get());
  };
  InterruptGuard interrupt;
  if (r.rank.number > 0) return serve_fits(compared);
  std::vector<MethodRuns> results;
  bool interrupted = false;
  {
    ProgressPrinter progress("", /*of_several=*/true);
    results = compared(progress);
    interrupted = progress.stop();
  }
  const bool any = std::ranges::any_of(results, [](const MethodRuns& each) { return each.failure.empty(); });
  if (!any && !results.empty()) std::rethrow_exception(results.front().thrown);
  if (interrupted)
    log_line(fmt::format("interrupted: {} of {} methods, some perhaps with fewer fits", results.size(),
                         inputs->methods.size()));
  log_failures(results);
  for (const SharedNote& note : shared_notes(results)) log_shared_note(note.text, note.of);
  if (r.json)
    print(fields_to_json(report_of(r, results, interrupted)));
  else
    print(comparison_table(results, r.fit.level) + leading_text(results, tested_share(r)));
  if (interrupted) return kInterrupted;
  const bool all = std::ranges::all_of(results, [](const MethodRuns& each) { return each.failure.empty(); });
  return all ? kDone : kFailed;
}

}  // namespace slimbayes::cli
