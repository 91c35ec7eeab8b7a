#include "slimbayes/workflow/comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/method/network_cache.h"
#include "slimbayes/workflow/fit_notes.h"
#include "slimbayes/workflow/held_out.h"
#include "slimbayes/workflow/resolved_fit.h"

namespace slimbayes {

namespace {

using nlohmann::json;

/// The note in the report of a fit that used a network which an earlier fit of the comparison had trained.
constexpr const char* kShared =
    "took a network that was trained before in this comparison, with the same seed, options and rows; the "
    "seconds contain its training";

json one_run(const Examples& examples, const FitOptions& fit, std::vector<std::string> notes,
             Callback& callback, NetworkCache* networks) {
  const int64_t taken_before = networks ? networks->taken() : 0;
  const double saved_before = networks ? networks->seconds() : 0;
  const auto start = std::chrono::steady_clock::now();
  const Model model = fit_model(examples, fit, nullptr, &callback, {}, networks);
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double saved = networks ? networks->seconds() - saved_before : 0;
  json report = report_on(model, take(examples, model.split().test), fit.level, notes);
  const json valid = report_on(model, take(examples, model.split().valid), fit.level, notes);
  const std::vector<std::string> own = fit_notes(model, valid, report, fit.level);
  report["notes"] = notes;
  for (const std::string& note : own) report["notes"].push_back(note);
  report["facts"] = model.fitted().summary().facts;
  report["seed"] = fit.seed;
  report["seconds"] = spent + saved;
  if (networks && networks->taken() > taken_before) {
    report["seconds_shared"] = saved;
    report["notes"].push_back(kShared);
  }
  return report;
}

/// Fits one method with each seed and adds the reports to `result`. If a fit throws, records the message in
/// `result` and leaves the other seeds out. Returns false if the user stopped the comparison, else true.
bool run_seeds(MethodRuns& result, const Examples& examples, FitOptions fit, int seeds,
               const std::vector<std::string>& notes, const FitWatcher& watcher, NetworkCache* networks) {
  try {
    for (int seed = 0; seed < seeds; ++seed) {
      const std::unique_ptr<Callback> callback = watcher(fmt::format("{} seed {}", fit.method, seed));
      if (callback->stop()) return false;
      fit.seed = static_cast<uint64_t>(seed);
      json run = one_run(examples, fit, notes, *callback, networks);
      if (callback->stop()) return false;
      result.runs.push_back(std::move(run));
    }
  } catch (const c10::Error& error) {
    result.failure = error.what_without_backtrace();
    result.thrown = std::current_exception();
  } catch (const std::exception& error) {
    result.failure = error.what();
    result.thrown = std::current_exception();
  }
  return true;
}

}  // namespace

std::vector<MethodChoice> methods_that_take(const Examples& examples, const FitOptions& options,
                                            const std::vector<MethodChoice>& methods, bool all_must) {
  const TaskKind task = task_asked(examples, options);
  const InputKind kind = kind_asked(examples, options);
  std::vector<MethodChoice> out;
  for (const MethodChoice& choice : methods) {
    const MethodInfo& info = find_method(choice.method);
    const bool taken = takes(info, task, choice.options) && takes(info, kind, choice.options);
    check(taken || !all_must, "compare",
          fmt::format("methods for {}{}", name_of(task),
                      kind == InputKind::table ? "" : fmt::format(" of {}", name_of(kind))),
          in_quotes(choice.method), methods_taking(task, kind) + " take it");
    if (taken) out.push_back(choice);
  }
  return out;
}

std::vector<MethodRuns> compare(const Examples& examples, const FitOptions& fit,
                                const std::vector<MethodChoice>& methods, int seeds,
                                const std::vector<std::string>& notes, const FitWatcher& watcher) {
  check(fit.test_fraction > 0, "compare", "test examples, on which the methods are compared",
        fmt::format("a test fraction of {}", fit.test_fraction), "use a --test-fraction above 0");
  NetworkCache networks;  // shared by all methods that start from a trained network
  const auto takes_network = [](const MethodChoice& c) { return find_method(c.method).takes_network; };
  const bool several = std::ranges::count_if(methods, takes_network) > 1;
  std::vector<MethodRuns> results;
  for (const MethodChoice& choice : methods) {
    FitOptions own = fit;
    own.method = choice.method;
    own.options = choice.options;
    MethodRuns& result = results.emplace_back(MethodRuns{choice.method});
    const int fits = find_method(choice.method).seeded ? seeds : 1;
    NetworkCache* shared = several && takes_network(choice) ? &networks : nullptr;
    if (run_seeds(result, examples, own, fits, notes, watcher, shared)) continue;
    if (result.runs.empty()) results.pop_back();
    break;
  }
  return results;
}

}  // namespace slimbayes
