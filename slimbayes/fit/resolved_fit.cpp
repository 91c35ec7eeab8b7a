// The first stage of a fit. It makes every choice that the options leave to a default, to the data, to a
// preset or to the model whose network the fit takes. It checks all that can be checked before any work.
#include "slimbayes/fit/resolved_fit.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/fit/network_at_hand.h"
#include "slimbayes/fit/noise_doubt.h"

namespace slimbayes {

namespace {

/// Throws std::invalid_argument unless every column in FitOptions::categorical is in the table and was read
/// as categories. The model reads these columns of later files as categories, so the training table must be
/// read in the same way.
void check_names(const Table& table, const FitOptions& fit) {
  for (const std::string& name : fit.categorical) {
    const Column* column = table.find(name);
    if (column == nullptr)
      refuse("fit", "columns of the table in FitOptions::categorical", in_quotes(name),
             nearest_hint(name, table.names()));
    if (column->kind != ColumnKind::categorical)
      refuse("fit",
             fmt::format("a table that was read with {} as names, as FitOptions::categorical has it",
                         in_quotes(name)),
             fmt::format("a {} column", kind_name(column->kind)),
             "read_table takes the same list as Reading::names; or leave the column out of "
             "FitOptions::categorical");
  }
}

/// Returns the method that the options name or, if they name none, the default method of the target's task.
const MethodInfo& method_of(const Examples& examples, const FitOptions& fit) {
  check_target(examples, fit);
  if (!fit.method.empty()) return find_method(fit.method);
  if (const MethodInfo* own = default_method_of(fit.likelihood)) return *own;
  return default_method(task_asked(examples, fit), kind_asked(examples, fit));
}

}  // namespace

TaskKind task_asked(const Examples& examples, const FitOptions& fit) {
  const Table* table = table_of(examples);
  if (table == nullptr) return TaskKind::classification;
  if (fit.likelihood || !std::holds_alternative<Table>(examples) || fit.window > 0)
    return task_kind(*table, fit.target, fit.likelihood);
  const PositiveExamples positive = positive_examples(examples, fit);  // the others are in no part
  return task_kind(positive.some ? std::get<Table>(*positive.some) : *table, fit.target, fit.likelihood);
}

int fit_threads(const MethodInfo& method) { return method.resumable ? 1 : 0; }

int fit_workers(const FitOptions& fit, const std::vector<MethodChoice>& methods) {
  if (fit.workers > 0) return fit.workers;
  const auto computes = [](const MethodChoice& one) {
    return one.method.empty() || inner_method(find_method(one.method), one.options).device;
  };
  if (!device_of(fit.device).is_cpu() && std::ranges::any_of(methods, computes)) return 1;
  if (fit.threads == kThreadsOfMethod) return available_cores();
  return fit.threads > 0 ? fit.threads : at::get_num_threads();
}

ResolvedFit resolve_fit(const Examples& examples, FitOptions fit, const MethodChoices& choices,
                        std::shared_ptr<const Model> network) {
  check_options(fit, "fit");
  check_options(run_options(fit), "fit");
  const at::Device device = device_of(fit.device);
  check(!fit.share_network, "fit", "several targets of a table for `.share_network`", "one target or none",
        "leave `.share_network` out");
  check_examples(examples, fit);
  check_fractions(fit);
  const MethodInfo& method = method_of(examples, fit);
  if (!network) network = network_asked(fit);
  const nlohmann::json given = fit.options;
  const bool by_task = fit.method.empty();
  fit.method = method.name;
  ChosenOptions chosen = choose_options(method, given, choices);
  if (!choices.preset.empty()) fit.options = std::move(chosen.options);
  if (network) fit.options = without_network_options(fit.options, given);
  if (choices.tune) fit.tune = std::move(chosen.tune);
  nlohmann::json options = method.resolve(fit.options);
  const InputKind kind = kind_asked(examples, fit);
  const auto task = kind == InputKind::table ? task_known(fit, kind) : task_asked(examples, fit);
  check_method(method, options, kind, task);
  check_likelihood(method, options, fit.likelihood);
  check_bounds_of_method(method, fit.bounds);
  if (const Table* table = table_of(examples)) check_names(*table, fit);
  if (network) options = options_around(*network, method, std::move(options));
  const MethodInfo& inner = inner_method(method, options);
  std::string scale = fit.scale == "auto" ? inner.input_scale : fit.scale;
  const int workers = fit_workers(fit, {{method.name, options}});
  // Where the fit consists of independent ones, each has one thread: so their bits do not depend on how many
  // run beside each other. The folds that estimate the noise of a small table are such fits.
  const bool in_folds = method.resumable && fit.noise_folds > 0 && kind == InputKind::table &&
                        count(examples) <= 2 * kMostRows;  // half of them may train
  const bool of_fits = method.candidates || &inner != &method || !fit.tune.empty() || in_folds;
  const int threads = of_fits ? 1 : fit.threads == kThreadsOfMethod ? fit_threads(method) : fit.threads;
  ResolvedFit out{std::move(fit), &method, std::move(options), &inner, by_task, kind, std::move(scale),
                  threads,        workers, std::move(network)};
  out.device = device;
  return out;
}

}  // namespace slimbayes
