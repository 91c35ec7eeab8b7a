#include "cli/joint_text.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/text_table.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

/// Returns the correlation with two decimals; 0 without a sign.
std::string two_decimals(double x) { return fmt::format("{:.2f}", std::abs(x) < 0.005 ? 0.0 : x); }

/// Returns "0.308 +- 0.050": a mean with the decimals of its standard error, which has two significant
/// digits. Without an error, and where a number is too large or too small for decimals, "0.308".
std::string with_error(double mean, const std::optional<double>& error) {
  constexpr double kLeast = 1e-9, kMost = 1e6;
  if (!error) return fmt::format("{:.3g}", mean);
  if (!(*error > kLeast && *error < kMost && std::abs(mean) < kMost))
    return fmt::format("{:.3g} +- {:.2g}", mean, *error);
  const int decimals = std::max(0, 1 - static_cast<int>(std::floor(std::log10(*error))));
  return fmt::format("{:.{}f} +- {:.{}f}", mean, decimals, *error, decimals);
}

/// Returns an energy score with three significant digits: it is the mean over a finite number of draws of
/// each row (JointModel::evaluate_jointly), which the fourth digit depends on.
std::string energy_text(double score) { return fmt::format("{:#.3g}", score); }

}  // namespace

void TargetNotes::add(size_t target, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    auto known = std::ranges::find(notes_, note, &Noted::note);
    if (known == notes_.end()) known = notes_.insert(known, {note, {}});
    if (known->targets.empty() || known->targets.back() != target) known->targets.push_back(target);
  }
}

std::vector<std::string> TargetNotes::sentences() const {
  std::vector<std::string> all;
  for (const Noted& one : notes_) {
    std::vector<std::string> names;
    for (const size_t t : one.targets) names.push_back(foreign_text(targets_[t]));
    all.push_back(names.size() == targets_.size() ? one.note
                                                  : fmt::format("{}: {}", fmt::join(names, ", "), one.note));
  }
  return all;
}

std::vector<std::vector<double>> matrix_rows(const ErrorCorrelation& correlation) {
  const at::Tensor r = correlation.matrix.to(at::kDouble).contiguous();
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < r.size(0); ++i) {
    const auto* row = r.const_data_ptr<double>() + i * r.size(1);
    rows.emplace_back(row, row + r.size(1));
  }
  return rows;
}

std::string correlation_text(const std::vector<std::string>& targets, const ErrorCorrelation& correlation) {
  if (targets.size() < 2) return "";
  std::vector<std::vector<Cell>> rows = {{{"correlation of errors"}}};
  const std::vector<std::vector<double>> numbers = matrix_rows(correlation);
  for (size_t i = 0; i < targets.size(); ++i) {
    rows[0].push_back({targets[i]});
    rows.push_back({{targets[i]}});
    for (const double x : numbers.at(i)) rows.back().push_back({two_decimals(x)});
  }
  return text_table(rows) + fmt::format("of {} held-out {}, drawn to 0 by {:.0f} %\n", correlation.rows,
                                        correlation.rows == 1 ? "row" : "rows", 100 * correlation.shrinkage);
}

std::string joint_line(const JointEvaluation& scores, const std::string& part) {
  const double gain = scores.nll_gain;
  return fmt::format("joint nll of {} {}: {}, of independent targets {}: {}\n", part,
                     counted(scores.n, "row"), rounded(scores.nll_joint), rounded(scores.nll_independent),
                     gain == 0 ? "they are equal"
                               : fmt::format("{} is lower, by {}", scores.lower,
                                             with_error(std::abs(gain), scores.nll_gain_se)));
}

std::string joint_table(const JointEvaluation& scores) {
  std::string text = text_table(
      {{{fmt::format("together, {}", counted(scores.n, "row"))}, {"joint"}, {"independent"}},
       {{"nll"}, {rounded(scores.nll_joint)}, {rounded(scores.nll_independent)}},
       {{"energy score"}, {energy_text(scores.energy)}, {energy_text(scores.energy_independent)}}});
  text += scores.nll_gain == 0
              ? "lower nll: neither\n"
              : fmt::format("lower nll: {}, by {} (standard error of the paired differences)\n", scores.lower,
                            with_error(std::abs(scores.nll_gain), scores.nll_gain_se));
  if (scores.region_coverage)
    text +=
        fmt::format("joint regions at {:g} %: hold {} of {} with all numbers and counts\n",
                    100 * scores.level, rounded(*scores.region_coverage), counted(scores.complete, "row"));
  return text;
}

std::string region_text(double level, double factor, bool conformal) {
  return fmt::format(
      "the joint regions of {:g} % reach to the normal scores ±{:#.4g} of every number and count, by {}",
      100 * level, factor, conformal ? "the calibration rows" : "the correlation of the errors");
}

}  // namespace slimbayes::cli
