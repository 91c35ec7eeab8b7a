#include "slimbayes/answers/joint/joint_scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/energy_score.h"
#include "slimbayes/answers/joint/region.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr const char* kJoint = "joint_evaluation";

/// Checks the pieces and returns which targets are known. [n, k]
at::Tensor known_targets(const JointPieces& p) {
  check_shape(p.z, {-1, -1}, kJoint, "z");
  check_shape(p.nll, p.z.sizes(), kJoint, "nll");
  check_shape(p.y, p.z.sizes(), kJoint, "y");
  check_shape(p.draws, {-1, p.z.size(0), p.z.size(1)}, kJoint, "draws");
  check_shape(p.independent_draws, p.draws.sizes(), kJoint, "independent_draws");
  check(p.lower.defined() == p.upper.defined(), kJoint, "both bounds of the regions, or none", "one");
  if (p.lower.defined()) {
    check_shape(p.lower, p.z.sizes(), kJoint, "lower");
    check_shape(p.upper, p.z.sizes(), kJoint, "upper");
    check((p.lower <= p.upper).all().item<bool>(), kJoint, "lower bounds of at most the upper ones",
          "others");
  }
  const at::Tensor known = p.z.isnan().logical_not();
  check((p.nll.isnan().logical_not() == known).all().item<bool>() &&
            (p.y.isnan().logical_not() == known).all().item<bool>(),
        kJoint, "the same unknown targets in z, nll and y", "others");
  return known;
}

/// Returns the weights of these rows; undefined for undefined.
at::Tensor at_rows(const at::Tensor& weight, const at::Tensor& rows) {
  return weight.defined() ? weight.index_select(0, rows) : weight;
}

/// Returns the standard error of the mean of x [n] by the weights, or nothing for fewer than two rows.
std::optional<double> error_of_mean(const at::Tensor& x, const at::Tensor& weight) {
  if (x.numel() < 2) return {};
  if (!weight.defined()) return x.std().item<double>() / std::sqrt(static_cast<double>(x.numel()));
  const double rows = effective_rows(weight);
  if (!(rows > 1)) return {};
  const double var = row_mean((x - row_mean(x, weight, kJoint)).square(), weight, kJoint);
  return std::sqrt(var / (rows - 1));
}

/// Returns whether each of these complete rows lies in its region. [m] bool
at::Tensor in_region(const JointPieces& p, const at::Tensor& rows, double factor) {
  const auto of = [&](const at::Tensor& x) { return x.index_select(0, rows); };
  if (!p.lower.defined()) return region_scores(of(p.z)) <= factor;
  const at::Tensor y = of(p.y);
  return ((y >= of(p.lower)) & (y <= of(p.upper))).all(1);
}

/// Sets the scores of the region: the coverage is that of the complete rows alone, since with an unknown
/// target a row lies in the region more often.
void score_region(JointEvaluation& out, const JointPieces& p, const at::Tensor& known, double factor) {
  const at::Tensor complete = known.all(1).nonzero().squeeze(1);
  out.complete = complete.numel();
  if (out.complete > 0)
    out.region_coverage =
        row_mean(in_region(p, complete, factor).to(at::kDouble), at_rows(p.weight, complete), kJoint);
  if (!p.lower.defined()) return;
  const at::Tensor volume = (p.upper - p.lower).to(at::kDouble).prod(1);
  if (volume.isfinite().all().item<bool>()) out.region_volume = row_mean(volume, p.weight, kJoint);
}

}  // namespace

JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level,
                                 double factor) {
  const at::Tensor known = known_targets(pieces), rows = known.any(1).nonzero().squeeze(1);
  check(rows.numel() > 0, kJoint, "a row with a known target", "none");
  if (!(factor >= 0)) refuse(kJoint, "a factor of the region of at least 0", fmt::format("{}", factor));
  const at::Tensor nll = pieces.nll.index_select(0, rows).to(at::kDouble).nansum(1),
                   gain = copula_row_log_density(pieces.z.index_select(0, rows), correlation),
                   y = pieces.y.index_select(0, rows),
                   energy = energy_row_score(pieces.draws.index_select(1, rows), y),
                   apart = energy_row_score(pieces.independent_draws.index_select(1, rows), y),
                   weight = checked_weight(at_rows(pieces.weight, rows), rows.numel(), kJoint);
  const auto mean = [&](const at::Tensor& x) { return row_mean(x, weight, kJoint); };
  JointEvaluation out;
  out.n = rows.numel();
  out.nll_joint = mean(nll - gain);
  out.nll_independent = mean(nll);
  out.nll_gain = mean(gain);
  out.nll_gain_se = error_of_mean(gain, weight);
  out.energy = mean(energy);
  out.energy_independent = mean(apart);
  out.energy_gain = mean(apart - energy);
  out.energy_gain_se = error_of_mean(apart - energy, weight);
  out.level = level;
  out.lower = out.nll_gain > 0 ? "joint" : "independent";
  score_region(out, pieces, known, factor);
  return out;
}

JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level) {
  return joint_evaluation(pieces, correlation, level, region_factor(correlation, level));
}

}  // namespace slimbayes
