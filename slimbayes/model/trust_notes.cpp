#include "slimbayes/model/trust_notes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/metrics.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/input_groups.h"

namespace slimbayes {

namespace {

constexpr int64_t kFewest = 10;      // with fewer examples there is no warning
constexpr double kUnlikely = 0.01;   // less probable misses are not put down to chance
constexpr double kNoForecast = 0.9;  // warn from this share of a constant's RMSE

/// Returns whether the fit had at least the method's default number of steps. In a shorter fit the learning
/// rate falls earlier; if its score stops improving, that says nothing about a longer fit.
bool had_steps_enough(const Model& model) {
  for (const OptionDoc& doc : options_of(find_method(model.method()), model.options()))
    if (doc.name == "steps") return model.options().at("steps") >= doc.fallback;
  return true;
}

/// Returns advice to the user, for a model whose scores are no better than those of a constant prediction.
std::string advice(const Model& model, const HeldOut& held) {
  const Summary& summary = model.fitted().summary();
  if (held.fresh) return "do not rely on the answers to such examples";
  if (find_method(model.method()).plain) return "another method may do better, or the inputs say little";
  if (find_method(model.method()).candidates && model.options().value("time_limit", 0.0) > 0 &&
      summary.steps == 0)
    return "a longer `.time_limit` tries more methods, or the inputs say little";
  if (summary.steps == 0) return "the network may not fit these examples, or the inputs say little";
  if (summary.stopped == Stopped::patience && had_steps_enough(model))
    return fmt::format(
        "no epoch after {} of {} was better, so that more steps would not help; another "
        "`.method` or more rows may, or the inputs say little",
        summary.best_epoch, summary.epochs);
  return "more `.steps` or another `.method` may help, or the inputs say little";
}

/// Returns a warning if the NLL is no better than that of one constant prediction for all examples, else "".
/// The constant is the best one for the scored examples themselves. On few examples that is too good for a
/// fair comparison, so trust_notes() tests no part with fewer than kFewest.
std::string nothing_learnt(const HeldOut& held, const Model& model) {
  const Evaluation& report = held.report;
  if (!report.nll_constant || report.nll < *report.nll_constant) return "";
  return fmt::format(
      "on the {} {} the NLL, {:.4g}{}, is no better than that of one answer for every {}, {:.4g}: {}",
      report.n, held.rows, report.nll,
      report.numbers && report.numbers->standardized ? " in the target's units" : "",
      noun_of(kind_of(model.encoder())), *report.nll_constant, advice(model, held));
}

/// Returns a warning if the RMSE of the predicted means is hardly below that of one number for all examples,
/// else "". If the intervals are wide enough, neither the NLL nor the coverage shows this.
std::string no_forecast(const HeldOut& held, const Model& model) {
  const std::optional<NumberScores>& numbers = held.report.numbers;
  if (!numbers || !numbers->rmse_constant) return "";
  const double rmse = numbers->rmse, constant = *numbers->rmse_constant;
  if (rmse < kNoForecast * constant) return "";
  return fmt::format(
      "on the {} {} the RMSE of the predicted means, {:.4g}, is {:.2f} of that of one number for every row, "
      "{:.4g}: {}",
      held.report.n, held.rows, rmse, rmse / constant, constant, advice(model, held));
}

/// Returns what to do about intervals that are too narrow. Counts have no conformal intervals.
std::string wider(const Model& model) {
  const Task& task = model.schema().task;
  if (task.kind != TaskKind::counts)
    return "`.calibrate=conformal` makes them hold their level, or take another `.method`";
  if (fact_of(task.likelihood) != nullptr) return "take another `.method`";
  return fmt::format(
      "if the counts vary more than Poisson's, `.likelihood=negative-binomial`, or with zeros in excess "
      "zero-inflated-poisson ({}); or take another `.method`",
      methods_that(&MethodInfo::dispersed));
}

/// Returns a warning if more examples lie outside their intervals than chance explains, else "". Does not
/// test windows, which overlap and are not independent, nor a calibrated model, whose level holds only on
/// average over possible calibration rows.
std::string too_narrow(const HeldOut& held, const Model& model) {
  const Evaluation& report = held.report;
  if (!report.coverage || model.calibration().groups > 0 || kind_of(model.encoder()) == InputKind::windows)
    return "";
  // Weighted rows say as much as fewer rows: the tests count these.
  const bool weighted = report.effective_rows.has_value();
  const int64_t n = weighted ? std::llround(*report.effective_rows) : report.n;
  const double covered = *report.coverage, level = held.level;
  const double missed = (1 - covered) * static_cast<double>(n);
  const int64_t misses = weighted ? static_cast<int64_t>(std::floor(missed + 1e-9)) : std::llround(missed);
  const std::string outside =
      weighted ? fmt::format(
                     "{:.3g} % of the {} {}, by their weights, lie outside their {:g} % intervals, where "
                     "{:.3g} % are expected",
                     100 * (1 - covered), report.n, held.rows, 100 * level, 100 * (1 - level))
               : fmt::format("{} of {} {} lie outside their {:g} % intervals, where {:.3g} are expected",
                             misses, n, held.rows, 100 * level, (1 - level) * static_cast<double>(n));
  // Rows with identical inputs are not independent, so the test counts each of the different inputs once.
  const auto [different, covered_inputs] = report.inputs.value_or(InputScores{n, covered});
  const int64_t inputs = std::min(different, n);
  const auto missed_inputs =
      static_cast<int64_t>(std::floor((1 - covered_inputs) * static_cast<double>(inputs) + 1e-9));
  if (probability_of_misses(missed_inputs, inputs, level) < kUnlikely)
    return outside + ": the intervals are too narrow; " + wider(model);
  if (inputs == n || probability_of_misses(misses, n, level) >= kUnlikely) return "";
  return fmt::format(
      "{}; rows with identical inputs share one error: of the {} different inputs, each counted once, {:.3g} "
      "% "
      "lie inside",
      outside, different, 100 * covered_inputs);
}

}  // namespace

std::optional<InputScores> inputs_report(const Model& model, const Examples& examples, const Answers& a,
                                         const at::Tensor& y, const at::Tensor& weight) {
  if (!a.levels.front().interval || kind_of(model.encoder()) == InputKind::windows) return std::nullopt;
  FitOptions options = model.fit_options();
  options.split = "grouped";
  options.ignore = ignored_columns(options);
  options.weights = "";
  if (const auto* encoder = std::get_if<Encoder>(&model.encoder()))
    for (const Encoder::Feature& column : encoder->columns())
      if (column.width() == 0) options.ignore.push_back(column.name);
  if (const auto* table = std::get_if<Table>(&examples))
    std::erase_if(options.ignore, [&](const std::string& name) { return table->find(name) == nullptr; });
  const RowGroups groups = groups_of(examples, options);
  const int64_t inputs = count_groups(groups.of, a.rows);
  if (inputs == std::ssize(a.rows)) return std::nullopt;
  const auto& [lower, upper] = *a.levels.front().interval;
  const at::Tensor inside = ((y >= lower) & (y <= upper)).to(at::kDouble),
                   weights = group_weights(groups.of, a.rows, weight);
  return InputScores{inputs, (inside * weights).sum().item<double>() / static_cast<double>(inputs)};
}

std::vector<std::string> trust_notes(const Model& model, const std::vector<HeldOut>& parts) {
  const auto first = [&](const auto& warning) -> std::string {
    for (const HeldOut& held : parts) {
      if (held.report.n < kFewest) continue;
      if (std::string note = warning(held, model); !note.empty()) return note;
    }
    return "";
  };
  std::vector<std::string> notes = {first(too_narrow), first(nothing_learnt)};
  if (notes.back().empty()) notes.back() = first(no_forecast);
  std::erase(notes, "");
  return notes;
}

std::string few_scored(int64_t n, const std::string& noun, const std::string& advice) {
  constexpr int64_t kEnough = 30;
  if (n >= kEnough) return "";
  return fmt::format("the scores rest on {}: too few to rank methods{}{}", counted(n, noun),
                     advice.empty() ? "" : "; ", advice);
}

}  // namespace slimbayes
