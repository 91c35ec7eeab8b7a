#include "slimbayes/answers/joint/joint_scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/energy_score.h"
#include "slimbayes/answers/joint/region.h"
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
  if (p.width.defined()) check_shape(p.width, p.z.sizes(), kJoint, "width");
  const at::Tensor known = p.z.isnan().logical_not();
  check((p.nll.isnan().logical_not() == known).all().item<bool>() &&
            (p.y.isnan().logical_not() == known).all().item<bool>(),
        kJoint, "the same unknown targets in z, nll and y", "others");
  return known;
}

double row_mean(const at::Tensor& x) { return x.mean().item<double>(); }

/// Returns the standard error of the mean of x [n], or nothing for fewer than two rows.
std::optional<double> error_of_mean(const at::Tensor& x) {
  if (x.numel() < 2) return {};
  return x.std().item<double>() / std::sqrt(static_cast<double>(x.numel()));
}

/// Sets the scores of the region, of the complete rows alone: with an unknown target a row lies in the region
/// more often.
void score_region(JointEvaluation& out, const JointPieces& p, const at::Tensor& known, double factor) {
  const at::Tensor complete = known.all(1).nonzero().squeeze(1);
  out.complete = complete.numel();
  if (out.complete > 0)
    out.region_coverage = row_mean((region_scores(p.z.index_select(0, complete)) <= factor).to(at::kDouble));
  if (p.width.defined()) out.region_volume = row_mean(p.width.to(at::kDouble).prod(1));
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
                   apart = energy_row_score(pieces.independent_draws.index_select(1, rows), y);
  JointEvaluation out;
  out.n = rows.numel();
  out.nll_joint = row_mean(nll - gain);
  out.nll_independent = row_mean(nll);
  out.nll_gain = row_mean(gain);
  out.nll_gain_se = error_of_mean(gain);
  out.energy = row_mean(energy);
  out.energy_independent = row_mean(apart);
  out.energy_gain = row_mean(apart - energy);
  out.energy_gain_se = error_of_mean(apart - energy);
  out.level = level;
  out.lower = out.nll_gain > 0 ? "joint" : "independent";
  score_region(out, pieces, known, factor);
  return out;
}

JointEvaluation joint_evaluation(const JointPieces& pieces, const at::Tensor& correlation, double level) {
  return joint_evaluation(pieces, correlation, level, region_factor(correlation, level));
}

}  // namespace slimbayes
