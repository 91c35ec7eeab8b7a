// The quantile of a mixture of the components of answers/density, one row after another in plain numbers:
// tensors of a few rows would cost more to make than to compute.
//
// Quantile    It lies between the least and the largest quantile of the components. Newton's method on the
//             normal score, which is nearly linear in y, with bisection as the safeguard.
// Cost        Some 10 K cumulative probabilities for K components and a row.
#include "slimbayes/answers/row_mixture.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "slimbayes/core/check.h"
#include "slimbayes/core/normal.h"
#include "slimbayes/core/student.h"

namespace slimbayes {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kGrain = 256;  // rows per task of a thread

/// A component as numbers: what all rows share, and the mean and the scale of the unit distribution by row.
struct Part {
  double weight, dof, shift, scale, log_weight, unit;  // `unit`: its own quantile at the score
  bool log;
  at::Tensor held_mean, held_sd;
  const double *mean, *sd;
};

Part part_of(const DensityComponent& c, double z) {
  const at::Tensor total = (c.aleatoric_var + c.epistemic_var).to(at::kDouble);
  const double tail = std::max(1e-300, student_cdf(-std::abs(z), kInfinity));
  Part p{c.weight,
         c.dof,
         c.shift,
         c.scale,
         std::log(c.weight),
         std::isinf(c.dof) ? z : std::copysign(student_quantile(tail, c.dof), z),
         c.warp == TargetWarp::log,
         c.mean.to(at::kDouble).contiguous(),
         (std::isinf(c.dof) ? total : total * ((c.dof - 2) / c.dof)).sqrt().contiguous(),
         nullptr,
         nullptr};
  p.mean = p.held_mean.const_data_ptr<double>();
  p.sd = p.held_sd.const_data_ptr<double>();
  return p;
}

/// The normal score of y in a row, and the logarithm of the density there.
struct ScoreAt {
  double score, log_density;
};

ScoreAt score_at(const std::vector<Part>& all, int64_t row, double y) {
  constexpr double kFarthest = 1e6;
  double below = 0, above = 0, density = 0, log_tail = -kInfinity;
  for (const Part& p : all) {
    const double t = (y - p.shift) / p.scale, warped = p.log ? std::log(std::max(t, 0.0)) : t;
    const double z = (warped - p.mean[row]) / p.sd[row];
    below += p.weight * student_cdf(z, p.dof);
    above += p.weight * student_cdf(-z, p.dof);
    const double own = student_log_density(z, p.dof);
    if (std::isfinite(warped))
      density += std::exp(p.log_weight + own - std::log(p.sd[row] * p.scale) - (p.log ? warped : 0));
    // As far_score of answers/density.
    const double size = std::abs(z);
    log_tail = std::max(
        log_tail, p.log_weight + (std::isinf(p.dof) ? -0.5 * size * size : own + std::log(size / p.dof)));
  }
  const double least = std::min(below, above), sign = below < above ? -1 : 1;
  const double size =
      least > 0 ? -normal_quantile(std::min(least, 0.5)) : std::min(kFarthest, std::sqrt(-2 * log_tail));
  return {sign * size, std::log(density)};
}

double quantile_of_row(const std::vector<Part>& all, int64_t row, double z, double sd) {
  double low = kInfinity, high = -kInfinity;
  for (const Part& p : all) {
    const double t = p.mean[row] + p.unit * p.sd[row], y = p.shift + p.scale * (p.log ? std::exp(t) : t);
    low = std::min(low, y);
    high = std::max(high, y);
  }
  double x = 0.5 * (low + high);
  const double enough = 1e-12 * sd + 4 * std::numeric_limits<double>::epsilon() * std::abs(x);
  constexpr int kMost = 400;
  for (int i = 0; i < kMost; ++i) {
    const auto [score, log_density] = score_at(all, row, x);
    const double gap = score - z;
    if (gap == 0) return x;
    (gap < 0 ? low : high) = x;
    // d score / dx = p(x) / phi(score). Every fourth step bisects, so that the bracket shrinks in any case.
    const double slope = std::exp(log_density + 0.5 * score * score) * std::sqrt(2 * std::numbers::pi);
    const double newton = x - gap / slope, middle = 0.5 * (low + high);
    const bool sane = newton >= low && newton <= high;
    const double next = sane && i % 4 != 3 ? newton : middle;
    const bool found = (sane && std::abs(next - x) <= enough) || high - low <= enough;
    x = next;
    if (found) return x;
  }
  throw NumericalError(fmt::format("[quantile] expected a quantile within {} steps; received none", kMost));
}

}  // namespace

at::Tensor mixture_quantile(const std::vector<DensityComponent>& all, double z, const at::Tensor& sd) {
  std::vector<Part> parts;
  for (const DensityComponent& c : all) parts.push_back(part_of(c, z));
  const at::Tensor scale = sd.to(at::kDouble).contiguous();
  at::Tensor out = at::empty_like(scale);
  const double* of = scale.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  at::parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) to[row] = quantile_of_row(parts, row, z, of[row]);
  });
  return out;
}

}  // namespace slimbayes
