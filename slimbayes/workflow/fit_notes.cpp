#include "slimbayes/workflow/fit_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "slimbayes/core/metrics.h"

namespace slimbayes {

namespace {

using nlohmann::json;

constexpr int64_t kFewest = 10;      // rows of a report that is judged
constexpr double kUnlikely = 0.01;   // probability below which chance does not explain a coverage
constexpr double kNoForecast = 0.9;  // share of a constant's RMSE from which a forecast says little

/// The scores of some held-out examples, and the word for them in a note.
struct Held {
  const json& report;  // null: there are none
  std::string rows;    // "validation rows"
};

/// Returns what may help a fit whose scores are no better than a constant's. Only a fit that patience ended
/// shows that more steps would not help.
std::string advice(const Summary& summary) {
  if (summary.steps == 0) return "the network may not fit these examples";
  if (summary.stopped == "patience")
    return fmt::format(
        "no epoch after {} of {} was better, so that more steps would not help; another "
        "--method or more rows may",
        summary.best_epoch, summary.epochs);
  return "more --steps or another --method may help";
}

/// Warns when the NLL is no better than that of a constant prediction. The constant is the best one for the
/// scored examples themselves; on few it is too good to compare with, so there is no warning.
std::string nothing_learnt(const Held& held, std::string_view noun, const Summary& summary) {
  const json& report = held.report;
  if (!report.contains("nll_constant")) return "";
  const auto nll = report["nll"].get<double>(), constant = report["nll_constant"].get<double>();
  if (nll < constant) return "";
  return fmt::format(
      "on the {} {} the NLL, {:.4g}{}, is no better than that of one answer for every {}, {:.4g}: {}, or the "
      "inputs say nothing",
      report["n"].get<int64_t>(), held.rows, nll,
      report.contains("nll_standardized") ? " in the target's units" : "", noun, constant, advice(summary));
}

/// Warns when the forecast's error is hardly below that of a constant. The NLL and the coverage of a wide
/// interval do not show it.
std::string no_forecast(const Held& held, const Summary& summary) {
  const json& report = held.report;
  if (!report.contains("rmse_constant")) return "";
  const auto rmse = report["rmse"].get<double>(), constant = report["rmse_constant"].get<double>();
  if (rmse < kNoForecast * constant) return "";
  return fmt::format(
      "on the {} {} the RMSE of the predicted means, {:.4g}, is {:.2f} of that of one number for every row, "
      "{:.4g}: {}, or the inputs say little",
      report["n"].get<int64_t>(), held.rows, rmse, rmse / constant, constant, advice(summary));
}

/// Warns when more examples lie outside their intervals than chance explains. Not of a calibrated model,
/// whose level holds on average over calibrations, nor of windows, which overlap.
std::string too_narrow(const Held& held, const Model& model, double level) {
  const json& report = held.report;
  if (!report.contains("coverage") || model.calibration().groups > 0 ||
      kind_of(model.encoder()) == InputKind::windows)
    return "";
  const auto n = report["n"].get<int64_t>();
  const double missed = 1 - report["coverage"].get<double>();
  const int64_t misses = std::llround(missed * static_cast<double>(n));
  // Rows with identical inputs count as one, which lies outside as often as they do on average.
  const auto inputs = report.value("different_inputs", n);
  const auto missed_inputs = static_cast<int64_t>(std::floor(missed * static_cast<double>(inputs) + 1e-9));
  if (probability_of_misses(missed_inputs, inputs, level) >= kUnlikely) return "";
  return fmt::format(
      "{} of {} {} lie outside their {:g} % intervals, where {:.3g} are expected: the intervals are too "
      "narrow; --calibrate conformal makes them hold their level, or take another --method",
      misses, n, held.rows, 100 * level, (1 - level) * static_cast<double>(n));
}

/// Returns each warning for the first of the parts that it holds for.
std::vector<std::string> trust_notes(const Model& model, const std::vector<Held>& parts, double level) {
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  const Summary& summary = model.fitted().summary();
  const auto first = [&](const auto& warning) -> std::string {
    for (const Held& held : parts) {
      if (!held.report.is_object() || held.report.value("n", int64_t{0}) < kFewest) continue;
      if (std::string note = warning(held); !note.empty()) return note;
    }
    return "";
  };
  std::string narrow = first([&](const Held& held) { return too_narrow(held, model, level); });
  std::string learnt = first([&](const Held& held) { return nothing_learnt(held, noun, summary); });
  if (learnt.empty()) learnt = first([&](const Held& held) { return no_forecast(held, summary); });
  return {std::move(narrow), std::move(learnt)};
}

/// Notes a rank above the number of training rows, which a default rank may be.
std::string too_large_a_rank(const Model& model, std::string_view noun) {
  const auto rank = model.options().find("rank");
  const auto rows = static_cast<int64_t>(model.split().train.size());
  if (rank == model.options().end() || rank->get<int64_t>() <= rows) return "";
  return fmt::format("rank {} is above the {} training {}s: it is more than they can use",
                     rank->get<int64_t>(), rows, noun);
}

/// Notes that conformal intervals and sets count groups of identical inputs, not examples.
std::string few_groups(const Model& model, std::string_view noun) {
  const ConformalScores& calibration = model.calibration();
  const bool classes = model.schema().task.kind == TaskKind::classification;
  const int64_t rows = calibration.groups > 0 ? calibration.value.size(0) : 0;
  if (calibration.groups == rows) return "";
  return fmt::format(
      "the {} rest on {} groups of identical inputs ({} calibration {}s), which count once each",
      classes ? "sets" : "intervals", calibration.groups, rows, noun);
}

}  // namespace

std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split) {
  std::vector<std::string> notes = split.notes;
  std::ranges::copy(notes_of(encoder), std::back_inserter(notes));
  return notes;
}

std::vector<std::string> fit_notes(const Model& model, const json& valid, const json& test, double level) {
  const Summary& summary = model.fitted().summary();
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  std::vector<std::string> notes = trust_notes(
      model, {{valid, fmt::format("validation {}s", noun)}, {test, fmt::format("test {}s", noun)}}, level);
  std::ranges::copy(model.noise().notes, std::back_inserter(notes));
  std::ranges::copy(notes_before_training(model.encoder(), model.split()), std::back_inserter(notes));
  notes.push_back(few_groups(model, noun));
  std::ranges::copy(summary.notes, std::back_inserter(notes));
  notes.push_back(too_large_a_rank(model, noun));
  if (summary.jitter > 0)
    notes.push_back(
        fmt::format("a factorisation needed a jitter of {:.3g} of its mean diagonal", summary.jitter));
  std::erase(notes, "");
  return notes;
}

}  // namespace slimbayes
