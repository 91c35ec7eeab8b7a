// The density of a regression as a mixture of Gaussian and Student-t components, some of a log target.
//
// Model       p(y) = sum_k w_k f_k((t_k(y) - m_k) / s_k) / s_k |dt_k / dy|, with the unit density f_k of the
//             component, t = (y - shift) / scale or its logarithm, and s_k^2 = var_k (dof_k - 2) / dof_k.
// Quantile    answers/row_mixture.
// CRPS        The integral of (F(x) - [x >= y])^2 over the pieces between y and quantiles of the components:
//             in each piece the integrand is smooth, so that three Gauss-Legendre nodes suffice.
// Cost        O(K) for a density of K components.
#include "slimbayes/answers/density.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "slimbayes/answers/row_mixture.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/student.h"

namespace slimbayes {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor total(const DensityComponent& c) { return c.aleatoric_var + c.epistemic_var; }

/// Returns the scale s of the unit distribution of each row. [n]
at::Tensor scale_of(const DensityComponent& c) {
  return (std::isinf(c.dof) ? total(c) : total(c) * ((c.dof - 2) / c.dof)).sqrt();
}

/// Returns the warped target of y: -inf below the range of a log target. [n] -> [n]
at::Tensor warped(const DensityComponent& c, const at::Tensor& y) {
  const at::Tensor t = (y - c.shift) / c.scale;
  return c.warp == TargetWarp::none ? t : t.clamp_min(0).log();
}

at::Tensor unwarped(const DensityComponent& c, const at::Tensor& t) {
  return c.shift + c.scale * (c.warp == TargetWarp::none ? t : t.exp());
}

/// Returns (t(y) - mean) / s. y may have more columns than the component, [n, m].
at::Tensor unit_score(const DensityComponent& c, const at::Tensor& y) {
  const auto as_column = [&](const at::Tensor& x) { return y.dim() == 2 ? x.unsqueeze(1) : x; };
  return (warped(c, y) - as_column(c.mean)) / as_column(scale_of(c));
}

/// Returns log(w_k p_k(y)) of each row. [n]
at::Tensor log_joint(const DensityComponent& c, const at::Tensor& y) {
  at::Tensor out =
      student_log_density(unit_score(c, y), c.dof) - scale_of(c).log() + std::log(c.weight / c.scale);
  if (c.warp == TargetWarp::none) return out;
  const at::Tensor t = warped(c, y);
  return at::where(at::isfinite(t), out - t, -kInfinity);
}

at::Tensor log_density(const std::vector<DensityComponent>& all, const at::Tensor& y) {
  std::vector<at::Tensor> parts;
  for (const DensityComponent& c : all) parts.push_back(log_joint(c, y));
  return parts.size() == 1 ? parts.front() : at::logsumexp(at::stack(parts), {0});
}

/// Returns the quantile of one component at the normal score z. [n]
at::Tensor quantile_of(const DensityComponent& c, double z) {
  double unit = z;
  if (std::isfinite(c.dof)) {
    const double tail =
        std::max(1e-300, at::special_ndtr(at::scalar_tensor(-std::abs(z), at::kDouble)).item<double>());
    unit = std::copysign(student_quantile(tail, c.dof), z);
  }
  return unwarped(c, c.mean + unit * scale_of(c));
}

/// The probabilities of both tails. Each is accurate where it is small.
struct Tails {
  at::Tensor below, above;
};

Tails tails(const std::vector<DensityComponent>& all, const at::Tensor& y) {
  Tails out;
  for (const DensityComponent& c : all) {
    const at::Tensor z = unit_score(c, y);
    const at::Tensor below = c.weight * student_cdf(z, c.dof), above = c.weight * student_cdf(-z, c.dof);
    out.below = out.below.defined() ? out.below + below : below;
    out.above = out.above.defined() ? out.above + above : above;
  }
  return out;
}

/// Returns the size of the normal score where the tail of every component is too small for a float64. There
/// the heaviest tail decides, and the score is sqrt(-2 log P) up to a relative 1e-3. The tail beyond z is
/// f(z) z / dof of a Student-t distribution and f(z) / z of a Gaussian. At most 1e6, also outside the range
/// of a log target. [n]
at::Tensor far_score(const std::vector<DensityComponent>& all, const at::Tensor& y) {
  constexpr double kMost = 1e6;
  at::Tensor log_tail;
  for (const DensityComponent& c : all) {
    const at::Tensor z = unit_score(c, y).abs();
    const at::Tensor one = std::isinf(c.dof)
                               ? -0.5 * z.square() + std::log(c.weight)
                               : student_log_density(z, c.dof) + (z / c.dof).log() + std::log(c.weight);
    log_tail = log_tail.defined() ? at::maximum(log_tail, one) : one;
  }
  return (-2 * log_tail).sqrt().clamp_max(kMost);
}

at::Tensor score_of(const std::vector<DensityComponent>& all, const at::Tensor& y) {
  if (all.size() == 1 && std::isinf(all[0].dof)) return unit_score(all[0], y);
  const auto [below, above] = tails(all, y);
  const at::Tensor score = at::where(below < above, at::special_ndtri(below), -at::special_ndtri(above));
  const at::Tensor lost = at::minimum(below, above) == 0;
  if (!lost.any().item<bool>()) return score;
  const at::Tensor far = far_score(all, y);
  return at::where(lost, at::where(below < above, -far, far), score);
}

/// Returns y in float64 after checking it and p.
at::Tensor checked(const Regression& p, const at::Tensor& y, const char* function) {
  check_shape(y, {-1}, function, "y");
  const int64_t n = y.size(0);
  check(n > 0, function, "at least one row", "none");
  check_finite(y, function, "y");
  const auto check_part = [&](const at::Tensor& mean, const at::Tensor& aleatoric,
                              const at::Tensor& epistemic) {
    check_shape(mean, {n}, function, "mean");
    check_shape(aleatoric, {n}, function, "aleatoric_var");
    check_shape(epistemic, {n}, function, "epistemic_var");
    check_finite(mean, function, "mean");
    const at::Tensor var = (aleatoric + epistemic).to(at::kDouble);
    check_finite(var, function, "variance");
    const double least = var.min().item<double>();
    if (!(least > 0))
      refuse(function, "total variance > 0 in every row", fmt::format("a least variance of {}", least));
  };
  check_part(p.mean, p.aleatoric_var, p.epistemic_var);
  for (const DensityComponent& c : p.density) check_part(c.mean, c.aleatoric_var, c.epistemic_var);
  return y.to(at::kDouble);
}

/// The mean and the two variances of y under a component. For a log target they are those of a log-normal
/// distribution, whose epistemic variance is that of E[y | f] = exp(f + aleatoric_var / 2), within the bound
/// of DensityComponent::most.
DensityComponent moments(const DensityComponent& c) {
  if (c.warp == TargetWarp::none)
    return {c.weight, c.shift + c.scale * c.mean, c.scale * c.scale * c.aleatoric_var,
            c.scale * c.scale * c.epistemic_var};
  const at::Tensor share = ((c.most - c.mean).clamp_min(c.spare_var) / total(c)).clamp_max(1),
                   aleatoric = share * c.aleatoric_var, epistemic = share * c.epistemic_var;
  const at::Tensor unit = at::exp(c.mean + 0.5 * (aleatoric + epistemic)), square = (c.scale * unit).square();
  return {c.weight, c.shift + c.scale * unit, square * epistemic.exp() * aleatoric.expm1(),
          square * epistemic.expm1()};
}

/// The CRPS of a few rows by quadrature, as described above. [n]
at::Tensor crps_by_quadrature(const std::vector<DensityComponent>& all, const at::Tensor& y) {
  std::vector<at::Tensor> columns = {y};
  for (const DensityComponent& c : all)
    for (double z = -6; z <= 6; z += 0.75) columns.push_back(quantile_of(c, z));
  const at::Tensor knots = std::get<0>(at::stack(columns, 1).sort(1));
  const at::Tensor from = knots.slice(1, 0, -1), width = knots.diff(1, 1);
  const at::Tensor right = (from >= y.unsqueeze(1)).to(at::kDouble);
  const std::array<double, 3> nodes = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)};
  const std::array<double, 3> weights = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  at::Tensor sum = at::zeros_like(y);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const at::Tensor below = tails(all, from + nodes[i] * width).below;
    sum = sum + weights[i] * (width * (below - right).square()).sum(1);
  }
  return sum;
}

}  // namespace

std::vector<DensityComponent> components_of(const Regression& p) {
  if (!p.density.empty()) return p.density;
  return {{1, p.mean, p.aleatoric_var, p.epistemic_var}};
}

Regression mixed(std::vector<DensityComponent> components) {
  check(!components.empty(), "mixed", "at least one component", "none");
  double sum = 0;
  for (const DensityComponent& c : components) {
    if (!(c.weight > 0 && std::isfinite(c.weight)))
      refuse("mixed", "finite weights > 0", fmt::format("{}", c.weight));
    if (!(c.dof > 2)) refuse("mixed", "more than 2 degrees of freedom", fmt::format("{}", c.dof));
    check(c.warp == TargetWarp::none || std::isinf(c.dof), "mixed", "a Gaussian log target",
          "a Student-t one");
    check_shape(c.mean, components.front().mean.sizes(), "mixed", "the mean of a component");
    sum += c.weight;
  }
  std::vector<at::Tensor> means;
  Regression p;
  const auto add = [](at::Tensor& to, const at::Tensor& x) { to = to.defined() ? to + x : x; };
  for (DensityComponent& c : components) {
    c.weight /= sum;
    const DensityComponent own = moments(c);
    add(p.mean, c.weight * own.mean);
    add(p.aleatoric_var, c.weight * own.aleatoric_var);
    add(p.epistemic_var, c.weight * own.epistemic_var);
    means.push_back(own.mean);
  }
  // From the deviations and not as E[x^2] - E[x]^2, which loses digits if the means are nearly equal.
  for (size_t k = 0; k < means.size() && means.size() > 1; ++k)
    p.epistemic_var = p.epistemic_var + components[k].weight * (means[k] - p.mean).square();
  p.density = std::move(components);
  return p;
}

at::Tensor regression_row_nll(const Regression& p, const at::Tensor& y) {
  const at::Tensor target = checked(p, y, "regression_nll");
  return -log_density(components_of(p), target);
}

double regression_nll(const Regression& p, const at::Tensor& y) {
  return regression_row_nll(p, y).mean().item<double>();
}

at::Tensor normal_score(const Regression& p, const at::Tensor& y) {
  const at::Tensor target = checked(p, y, "normal_score");
  return score_of(components_of(p), target);
}

at::Tensor quantile(const Regression& p, double z) {
  if (!std::isfinite(z)) refuse("quantile", "a finite normal score", fmt::format("{}", z));
  const std::vector<DensityComponent> all = components_of(p);
  const at::Tensor x =
      all.size() == 1 ? quantile_of(all[0], z) : mixture_quantile(all, z, total_var(p).sqrt());
  return std::isinf(p.least) ? x : x.clamp_min(p.least);
}

at::Tensor regression_row_crps(const Regression& p, const at::Tensor& y) {
  const at::Tensor target = checked(p, y, "crps");
  const std::vector<DensityComponent> all = components_of(p);
  const DensityComponent& first = all.front();
  if (all.size() == 1 && first.warp == TargetWarp::none)
    return first.scale * scale_of(first) * student_unit_crps(unit_score(first, target), first.dof);
  std::vector<at::Tensor> parts;
  constexpr int64_t kRows = 1024;
  for (int64_t begin = 0; begin < target.size(0); begin += kRows) {
    const int64_t end = std::min(begin + kRows, target.size(0));
    std::vector<DensityComponent> some = all;
    for (DensityComponent& c : some) {
      c.mean = c.mean.slice(0, begin, end);
      c.aleatoric_var = c.aleatoric_var.slice(0, begin, end);
      c.epistemic_var = c.epistemic_var.slice(0, begin, end);
    }
    parts.push_back(crps_by_quadrature(some, target.slice(0, begin, end)));
  }
  return at::cat(parts);
}

}  // namespace slimbayes
