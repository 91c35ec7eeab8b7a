// compare: every method with every seed on one split, so that what differs is the method. A method that fails
// is a row with its sentence; only when all fail does the command.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>

#include "cli/commands.h"
#include "cli/edge.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table_cell.h"
#include "slimbayes/data/target.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

struct Outcome {
  std::string method;
  std::vector<json> runs;  // reports with seed and seconds
  std::string failure;     // a sentence; empty: none
  std::exception_ptr thrown;
};

struct Spread {
  double mean = NAN, sd = NAN;  // sd: of the sample, NaN for one run
};

Spread spread(const Outcome& outcome, const std::string& key) {
  std::vector<double> values;
  for (const json& run : outcome.runs)
    values.push_back(run.contains(key) && run.at(key).is_number() ? run.at(key).get<double>() : NAN);
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1)) : NAN};
}

json one_run(const CompareRequest& r, const CompareRequest::Entry& entry, const Table& table, uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  ProgressPrinter progress(fmt::format("{} seed {}", entry.method, seed));
  const TableModel model =
      fit_table(table, table_fit(r.target, entry.method, entry.options, seed, r.rows), nullptr, &progress);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check(!model.split().test.empty(), "compare", "test rows", "none", "use a --test-fraction above 0");
  json report = model.evaluate(take_rows(table, model.split().test), r.level);
  report["seed"] = seed;
  report["seconds"] = seconds;
  return report;
}

Outcome all_runs(const CompareRequest& r, const CompareRequest::Entry& entry, const Table& table) {
  Outcome outcome{entry.method, {}, "", nullptr};
  const int seeds = entry.seeded ? r.seeds : 1;  // a deterministic method would repeat itself
  try {
    for (int seed = 0; seed < seeds && !InterruptGuard::interrupted(); ++seed) {
      json run = one_run(r, entry, table, static_cast<uint64_t>(seed));
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

/// The metrics of the first report: those of its task.
std::vector<std::string> shown_metrics(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.runs.empty()) continue;
    std::vector<std::string> names = metrics_of(outcome.runs.front());
    for (const char* minor : {"interval_score", "mce", "aupr", "nll_constant", "nll_uniform"})
      std::erase(names, minor);
    return names;
  }
  return {};
}

/// Smaller is better, of accuracy and AUROC larger; of the coverage its distance to the level; a width alone or an
/// expected count is no merit.
std::optional<double> badness(const Outcome& outcome, const std::string& metric, double level) {
  const double mean = spread(outcome, metric).mean;
  const bool no_merit = metric == "width" || metric == "expected";
  if (no_merit || !outcome.failure.empty() || !std::isfinite(mean)) return std::nullopt;
  if (metric == "accuracy" || metric == "auroc") return -mean;
  return metric == "coverage" ? std::abs(mean - level) : mean;
}

std::string table_of(const std::vector<Outcome>& outcomes, double level) {
  std::vector<std::vector<Cell>> rows = {{{"method"}}};
  const std::vector<std::string> metrics = shown_metrics(outcomes);
  for (const std::string& metric : metrics) rows[0].push_back({metric});
  rows[0].push_back({"seconds"});
  rows[0].push_back({"fits"});
  for (const Outcome& outcome : outcomes) {
    if (!outcome.failure.empty()) continue;
    std::vector<Cell> row = {{outcome.method}};
    for (const std::string& metric : metrics) {
      const Spread s = spread(outcome, metric);
      const auto mine = badness(outcome, metric, level);
      bool best = mine.has_value() && outcomes.size() > 1;
      for (const Outcome& other : outcomes)
        best = best && badness(other, metric, level).value_or(*mine) >= *mine;
      row.push_back({rounded(s.mean) + (std::isnan(s.sd) ? "" : fmt::format(" ± {:.2g}", s.sd)), best});
    }
    row.push_back({fmt::format("{:.1f}", spread(outcome, "seconds").mean)});
    row.push_back({fmt::format("{}", outcome.runs.size())});
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

json json_of(const CompareRequest& r, const std::vector<Outcome>& outcomes) {
  json methods = json::array();
  for (const Outcome& outcome : outcomes) {
    json entry = {{"method", outcome.method}, {"runs", outcome.runs}};
    if (!outcome.failure.empty()) entry["failed"] = outcome.failure;
    for (const std::string& metric : shown_metrics(outcomes)) {
      if (outcome.runs.empty()) continue;
      const Spread s = spread(outcome, metric);
      entry["mean"][metric] = s.mean;
      entry["sd"][metric] = s.sd;
    }
    methods.push_back(std::move(entry));
  }
  json answer = {
      {"data", r.data}, {"target", r.target}, {"seeds", r.seeds}, {"level", r.level}, {"methods", methods}};
  if (InterruptGuard::interrupted()) answer["interrupted"] = true;
  return answer;
}

/// Those that were named, if they take the target; else all that do.
std::vector<CompareRequest::Entry> chosen(const CompareRequest& r, const Table& table) {
  const std::string kind = task_kind(table, r.target, r.rows.likelihood);
  std::vector<CompareRequest::Entry> out;
  for (const auto& entry : r.methods) {
    const std::vector<std::string>& tasks = find_method(entry.method).tasks;
    const bool takes = std::ranges::find(tasks, kind) != tasks.end();
    check(takes || !r.named, "compare", fmt::format("methods for {}", kind), in_quotes(entry.method),
          methods_taking(kind) + " take it");
    if (takes) out.push_back(entry);
  }
  return out;
}

}  // namespace

int run_command(const CompareRequest& request) {
  CompareRequest r = request;
  const Table table = read_training(r.data, r.target, r.rows);
  InterruptGuard interrupt;
  std::vector<Outcome> outcomes;
  bool any = false;
  const std::vector<CompareRequest::Entry> methods = chosen(r, table);
  for (const auto& entry : methods) {
    if (InterruptGuard::interrupted()) break;
    outcomes.push_back(all_runs(r, entry, table));
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
  r.json ? print(json_of(r, outcomes)) : print(table_of(outcomes, r.level));
  return InterruptGuard::interrupted() ? kInterrupted : kDone;
}

}  // namespace slimbayes::cli
