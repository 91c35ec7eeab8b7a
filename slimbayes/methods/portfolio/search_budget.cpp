#include "slimbayes/methods/portfolio/search_budget.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/method/timed_part.h"
#include "slimbayes/methods/portfolio/row_scale.h"

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;

/// Returns the floating-point operations a second of a float64 matrix product on this machine.
double measured_speed() {
  constexpr int64_t kSide = 256;
  constexpr int kProducts = 3;
  const at::NoGradGuard no_grad;
  const at::Tensor a = at::ones({kSide, kSide}, at::kDouble);
  a.mm(a);  // the first one loads the library
  const auto begin = Clock::now();
  for (int i = 0; i < kProducts; ++i) a.mm(a);
  return 2.0 * kProducts * kSide * kSide * kSide / std::max(seconds_since(begin), 1e-9);
}

/// Returns the operations of the noise that differs by row (fitted_row_scale), which a regression in folds
/// gets.
double row_scale_operations(const SearchRows& rows) {
  const Schema& schema = rows.all.schema;
  if (!rows.in_folds || schema.task.kind != TaskKind::regression || !schema.input.is_vector()) return 0;
  constexpr double kPasses = 150;  // over the rows: folds, prior sds and steps
  const auto d = static_cast<double>(schema.input.numel() + 1);
  return d > kMostScaleFeatures ? 0 : kPasses * d * d * static_cast<double>(rows.all.size() + d);
}

}  // namespace

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

JobDeadline in_seconds(double seconds) {
  if (seconds > 1e9) return {};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string would_take(double seconds, double left) {
  const auto text = [](double s) { return fmt::format("{:.{}f}", s, s < 10 ? 1 : 0); };
  return fmt::format("would take {} s, {} are left", text(seconds), text(std::max(0.0, left)));
}

SearchBudget::SearchBudget(const AutoOptions& options, const SearchRows& rows, const FitContext& context)
    : rows_(rows),
      asked_(options.time_limit > 0 || context.until),
      limit_(std::min(seconds_for(options, rows.all.size()), seconds_left(context))) {}

double SearchBudget::left() const {
  double left = limit_ - earlier_ - seconds_since(begin_);
  for (const auto& [candidate, seconds] : aside_) left -= seconds;
  for (const auto& [candidate, seconds] : fit_aside_) left -= seconds;
  return left;
}

double SearchBudget::seconds_of(double operations) {
  if (operations > 0 && speed_ == 0) speed_ = measured_speed();
  return operations > 0 ? operations / speed_ : 0;
}

FitCost SearchBudget::cost_of(const Candidate& candidate, int64_t rows) const {
  const auto& cost = find_method(candidate.method).cost;
  FitSize size = size_of(rows_.all);
  size.rows = rows;
  return cost ? cost(size, candidate.options) : FitCost{};
}

FitCost SearchBudget::cost_of(const Candidate& candidate) const {
  return cost_of(candidate, std::ssize(rows_.folds.front().train));
}

double SearchBudget::seconds_to_all_rows(const TriedCandidate& tried) const {
  const int64_t all = rows_.all.size(), without = all - std::ssize(rows_.folds.front().held);
  const double whole = cost_of(tried.candidate, all).least, part = cost_of(tried.candidate, without).least;
  const double growth = part > 0 ? whole / part : static_cast<double>(all) / static_cast<double>(without);
  return growth * tried.seconds / static_cast<double>(tried.members.size());
}

size_t SearchBudget::shares(const TriedCandidate& tried, int workers) const {
  const Candidate& candidate = tried.candidate;
  const size_t fits = rows_.in_folds ? all_fits(candidate, rows_) : needed_fits(candidate, rows_);
  return time_shares(fits - tried.members.size(), workers);
}

double SearchBudget::least_seconds(const Candidate& candidate, size_t fits) {
  return seconds_of(static_cast<double>(fits) * cost_of(candidate).least) + seconds_to_finish(candidate);
}

double SearchBudget::seconds_to_finish(const Candidate& candidate) {
  constexpr double kAnswers =
      3;  // to the held-out rows: for the score, the report, and about as many test rows
  const FitCost cost = cost_of(candidate);
  size_t held = 0;
  for (const Fold& fold : rows_.folds) held += fold.held.size();
  return seconds_of(cost.finish + kAnswers * static_cast<double>(held) * cost.answer +
                    row_scale_operations(rows_));
}

}  // namespace slimbayes
