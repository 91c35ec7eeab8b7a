#include "slimbayes/methods/portfolio/row_scale.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

namespace {

constexpr double kTailDof = 5;
constexpr double kFewestScores = 50;
constexpr std::array kPriorSds = {0.05, 0.15, 0.5};  // of a weight, for a feature of sd 1

/// The scores of some rows, their standardised features behind a column of ones, and their weights, undefined
/// if each counts once. [n], [n, 1 + d], [n]
struct ScaleRows {
  at::Tensor square, design, weight;

  ScaleRows of(const at::Tensor& rows) const {
    return {square.index_select(0, rows), design.index_select(0, rows),
            weight.defined() ? weight.index_select(0, rows) : weight};
  }

  /// Returns x [n] or [n, k] with each row times its weight.
  at::Tensor counted(const at::Tensor& x) const {
    if (!weight.defined()) return x;
    return x * (x.dim() == 1 ? weight : weight.unsqueeze(1));
  }
};

/// Returns -log p(score) of each row with the log variances eta, without constants. [n]
at::Tensor tail_losses(const at::Tensor& square, const at::Tensor& eta) {
  return 0.5 * eta + 0.5 * (kTailDof + 1) * (square * (-eta).exp() / kTailDof).log1p();
}

/// Returns the weights [1 + d] of the largest posterior density; the first, the constant, has a flat prior.
at::Tensor scale_weights(const ScaleRows& rows, double prior_sd) {
  constexpr int kMostSteps = 100;
  constexpr double kInformation = 0.5 * kTailDof / (kTailDof + 3), kEnough = 1e-10;
  const int64_t d = rows.design.size(1);
  at::Tensor precision = at::full({d}, 1 / (prior_sd * prior_sd), at::kDouble),
             w = at::zeros({d}, at::kDouble);
  precision[0] = 0;
  const at::Tensor information =
      kInformation * at::mm(rows.design.t(), rows.counted(rows.design)) + at::diag(precision);
  const at::Tensor factor = safe_cholesky(information).factor;
  const auto loss_at = [&](const at::Tensor& at) {
    const at::Tensor losses = rows.counted(tail_losses(rows.square, at::mv(rows.design, at)));
    return (losses.sum() + 0.5 * (precision * at.square()).sum()).item<double>();
  };
  double loss = loss_at(w);
  for (int step = 0; step < kMostSteps; ++step) {
    const at::Tensor u = rows.square * (-at::mv(rows.design, w)).exp();
    const at::Tensor slope = 0.5 - 0.5 * (kTailDof + 1) * u / (kTailDof + u);
    const at::Tensor gradient = at::mv(rows.design.t(), rows.counted(slope)) + precision * w;
    const at::Tensor along = solve_cholesky(factor, gradient.unsqueeze(1)).squeeze(1);
    double size = 1, next = loss_at(w - along);
    for (; !(next <= loss) && size > 1e-6; next = loss_at(w - size * along)) size *= 0.5;
    if (!(next <= loss)) break;
    w = w - size * along;
    const bool done = loss - next <= kEnough * (1 + std::abs(loss));
    loss = next;
    if (done) break;
  }
  return w;
}

at::Tensor mean_of_columns(const at::Tensor& x, const at::Tensor& weights) {
  return weights.defined() ? at::mv(x.t(), weights) / weights.sum() : x.mean(0);
}

at::Tensor rows_where(const std::vector<int64_t>& part, int64_t fold, bool in) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < part.size(); ++i)
    if ((part[i] == fold) == in) rows.push_back(static_cast<int64_t>(i));
  return at::tensor(rows, at::kLong);
}

/// Returns the ends between which the log factors of rows with the features of `design` are kept: a hundredth
/// of these rows, by their weights, lies beyond each, so that no row alone decides how quiet far rows are.
std::pair<double, double> factor_range(const at::Tensor& log_factors, const at::Tensor& weights) {
  constexpr double kMost = 4.605;  // log 100
  const at::Tensor ends =
      weighted_quantiles(log_factors, weights, at::tensor({0.01, 0.99}, at::kDouble)).clamp(-kMost, kMost);
  return {ends[0].item<double>(), ends[1].item<double>()};
}

/// Returns the loss of each row under the weights and the range that the other folds give. [n]
at::Tensor held_losses(const ScaleRows& all, const std::vector<int64_t>& part, double prior_sd) {
  at::Tensor losses = at::zeros_like(all.square);
  for (int64_t fold = 0; fold <= std::ranges::max(part); ++fold) {
    const at::Tensor held = rows_where(part, fold, true);
    if (held.size(0) == 0) continue;
    const ScaleRows others = all.of(rows_where(part, fold, false)), own = all.of(held);
    const at::Tensor w = scale_weights(others, prior_sd), slopes = w.slice(0, 1);
    const auto [low, high] = factor_range(at::mv(others.design.slice(1, 1), slopes), others.weight);
    losses.index_copy_(
        0, held, tail_losses(own.square, w[0] + at::mv(own.design.slice(1, 1), slopes).clamp(low, high)));
  }
  return losses;
}

/// Returns the sd of a weight with which the features predict the spread of held-out rows best; 0 if they do
/// not help.
double chosen_prior_sd(const ScaleRows& all, const std::vector<int64_t>& part) {
  constexpr double kErrors = 2;
  const at::Tensor without = held_losses({all.square, all.design.slice(1, 0, 1), all.weight}, part, 1);
  double best = 0, least = 0;
  for (const double sd : kPriorSds) {
    const auto [mean, error] = mean_with_error(held_losses(all, part, sd) - without, all.weight);
    if (mean + kErrors * error < 0 && mean < least) best = sd, least = mean;
  }
  return best;
}

}  // namespace

at::Tensor log_factors(const RowScale& scale, const at::Tensor& features) {
  if (scale.constant()) return at::zeros({features.size(0)}, at::kDouble);
  check_shape(features, {-1, scale.weights.size(0)}, "log_factors", "features");
  const at::Tensor x = (features.to(at::kDouble) - scale.centre) / scale.spread;
  return at::mv(x, scale.weights).clamp(scale.low, scale.high);
}

Regression scaled_rows(const RowScale& scale, const at::Tensor& features, Regression p) {
  if (scale.constant()) return p;
  const at::Tensor factor = log_factors(scale, features).exp();
  const at::Tensor seen = p.epistemic_var.clamp_max(scale.seen_epistemic);
  p.epistemic_var = factor * seen + (p.epistemic_var - seen);
  p.aleatoric_var = factor * p.aleatoric_var;
  return p;
}

RowScale fitted_row_scale(const at::Tensor& score, const at::Tensor& features,
                          const std::vector<int64_t>& part, const at::Tensor& rows) {
  const int64_t n = score.size(0);
  if (rows.defined()) check_shape(rows, {n}, "fitted_row_scale", "rows");
  check_shape(features, {n, -1}, "fitted_row_scale", "features");
  check_finite(features, "fitted_row_scale", "features");
  if (std::ssize(part) != n) refuse("fitted_row_scale", "a fold of each row", std::to_string(part.size()));
  if (effective_rows(rows, n) < kFewestScores || features.size(1) > kMostScaleFeatures) return {};
  if (std::ranges::min(part) == std::ranges::max(part)) return {};
  RowScale scale;
  const at::Tensor x = features.to(at::kDouble);
  scale.centre = mean_of_columns(x, rows);
  const at::Tensor sd = rows.defined() ? mean_of_columns((x - scale.centre).square(), rows).sqrt()
                                       : x.std(0, /*unbiased=*/false);
  scale.spread = at::where(sd > 1e-9 * (1 + scale.centre.abs()), sd, 1.0);  // of a constant column 1
  const ScaleRows all{score.to(at::kDouble).square(),
                      at::cat({at::ones({n, 1}, at::kDouble), (x - scale.centre) / scale.spread}, 1), rows};
  check_finite(all.square, "fitted_row_scale", "score");
  const double prior_sd = chosen_prior_sd(all, part);
  if (prior_sd == 0) return {};
  scale.weights = scale_weights(all, prior_sd).slice(0, 1).clone();
  std::tie(scale.low, scale.high) = factor_range(at::mv(all.design.slice(1, 1), scale.weights), all.weight);
  return scale;
}

}  // namespace slimbayes
