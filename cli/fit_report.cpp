#include "cli/fit_report.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/messages.h"
#include "slimbayes/answers/calibration/adaptive_conformal.h"
#include "slimbayes/answers/conformal.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/unit.h"

namespace slimbayes::cli {
namespace {

constexpr double kNoDifference = 1e-3;  // nats per row; NLLs that differ by less count as equal

std::string tuning_text(const std::optional<TuningReport>& tuning) {
  if (!tuning || !tuning->best) return "";
  std::string values;
  for (const auto& item : tuning->best->options.items())
    values += fmt::format("{}{} {:g}", values.empty() ? "" : ", ", item.key(), item.value().get<double>());
  const double spread = tuning->spread.value_or(NAN);  // absent in model files of older versions
  std::string worth = spread < kNoDifference ? "; it made no difference: they differ by less than 0.001"
                                             : fmt::format(" by up to {:.4g}", spread);
  return fmt::format("tuned: {} (validation NLL {:.4f}, of {} combinations the best{})\n", values,
                     tuning->best->valid_nll.value_or(NAN), tuning->tried.size(),
                     std::isnan(spread) ? "" : worth);
}

/// Returns a line for each calibration group (--calibrate-by) that has a factor of its own at this level.
std::string groups_text(const Model& model, double level) {
  constexpr size_t kShown = 12;
  const GroupCalibration& groups = model.group_calibration();
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  std::string text;
  size_t own = 0;
  for (size_t g = 0; g < groups.cells.size(); ++g) {
    const ConformalScores scores = scores_of_group(model.calibration(), groups, static_cast<int64_t>(g));
    if (!suffices(scores, level) || ++own > kShown) continue;
    const GroupCell& cell = groups.cells[g];
    text += fmt::format("  {}: {:#.4g} from {}\n", cell ? in_quotes(*cell) : "missing",
                        conformal_factor(scores, level), counted(scores.value.size(0), noun));
  }
  if (own > kShown) text += fmt::format("  and {} more\n", own - kShown);
  return fmt::format("by {}, in place of this factor of all {}s, which the other groups share:\n{}",
                     in_quotes(model.fit_options().calibrate_by), noun,
                     own == 0 ? "  no group has enough for one of its own\n" : text);
}

std::string conformal_text(const Model& model, double level) {
  const ConformalScores& scores = model.calibration();
  if (scores.groups == 0) return "";
  // The answers of a method with candidates have densities of their own, so that no factor of the sd counts.
  const char* ends = find_method(model.method()).candidates ? "quantiles at the normal scores ±{:#.4g}"
                                                            : "mean ± {:#.4g} sd";
  if (const auto& adaptive = model.parts().adaptive)
    return fmt::format("adaptive interval at {:g} %: at present {} (a Gaussian's: {:#.4g}), after {}\n",
                       100 * level, fmt::format(fmt::runtime(ends), adaptive_factor(*adaptive, level)),
                       normal_quantile((1 + level) / 2), counted(adaptive->seen, "target"));
  const int64_t rows = scores.value.size(0);
  const std::string_view noun = noun_of(kind_of(model.encoder()));
  const std::string from = counted(rows, noun);
  const std::string groups =
      scores.groups < rows ? fmt::format(" in {} groups of identical inputs", scores.groups) : "";
  const auto [low, high] = coverage_range(scores, level);
  const std::string known = fmt::format(
      "with these calibration {}s the coverage of new {}s is from {:.3g} to {:.3g} %, with probability 90 "
      "%\n",
      noun, noun, 100 * low, 100 * high);
  if (model.schema().task.kind == TaskKind::classification)
    return fmt::format("conformal sets at {:g} %: classes up to a summed probability of {:#.4g}, from {}{}\n",
                       100 * level, conformal_factor(scores, level), from, groups) +
           known;
  return fmt::format("conformal interval at {:g} %: {} (a Gaussian's: {:#.4g}), from {}{}\n", 100 * level,
                     fmt::format(fmt::runtime(ends), conformal_factor(scores, level)),
                     normal_quantile((1 + level) / 2), from, groups) +
         known;
}

}  // namespace

std::string choices_text(const Model& model, double level) {
  std::string chosen;
  for (const std::string& fact : model.fitted().summary().facts) chosen += in_flags(fact) + "\n";
  const bool by_group = !model.group_calibration().empty();
  return chosen + tuning_text(model.tuning()) + conformal_text(model, level) +
         (by_group ? groups_text(model, level) : "");
}

FitReport fit_report(const FitRequest& r, const FitOutcome& outcome) {
  const Model& model = outcome.model.value();
  const SplitRows& split = model.split();
  FitReport out{.method = model.method(), .model = r.model, .seed = r.fit.seed};
  out.rows = {train_rows(split), std::ssize(split.valid), std::ssize(split.test), {}};
  out.summary = model.fitted().summary();
  out.options = model.options();
  out.notes = outcome.notes;
  if (!split.calibration.empty()) {
    out.rows.calibration = std::ssize(split.calibration);
    out.calibration = r.fit.calibrate;
  }
  if (const ConformalScores& scores = model.calibration(); scores.groups > 0 && !model.parts().adaptive)
    out.conformal = {r.fit.level, conformal_factor(scores, r.fit.level), coverage_range(scores, r.fit.level)};
  out.tuning = model.tuning();
  if (const NoiseEstimate& noise = model.noise(); !noise.empty()) {
    const bool estimated = noise.folds > 0;  // else cross-fitting did not run
    out.noise = {noise.folds, noise.rows, estimated ? noise.var : NAN, estimated ? noise.sd : NAN,
                 noise.notes, {}};
    if (noise.interrupted) out.noise->interrupted = true;
  }
  out.test = outcome.test;
  out.valid = outcome.valid;
  return out;
}

}  // namespace slimbayes::cli
