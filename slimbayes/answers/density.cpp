// The density of a regression as a mixture of Gaussian and Student-t components, some of a warped target.
//
// Model, quantile, CRPS   density/row_mixture, which computes row by row. Rows are independent, so that any
//                         number of threads gives the same bits.
// Moments                 Of a whole tensor at a time; tests hold them against density/row_mixture.
#include "slimbayes/answers/density.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/density/row_mixture.h"

namespace slimbayes {

namespace {

constexpr int64_t kGrain = 128;  // rows per task of a thread

at::Tensor total(const DensityComponent& c) { return c.aleatoric_var + c.epistemic_var; }

/// A NaN stays one.
double within(const Regression& p, double y) { return y < p.least ? p.least : y > p.most ? p.most : y; }

ComponentShape shape_of(const DensityComponent& c) {
  return {c.weight, c.dof, c.warp, c.shift, c.scale, c.most_var, c.most, c.spare_var};
}

/// The components of a regression, of which a RowMixture computes each row.
class MixtureRows {
 public:
  explicit MixtureRows(const Regression& p) : all_(components_of(p)), mixture_(shapes_of(all_)) {
    for (DensityComponent& c : all_) {
      numbers_.push_back(c.mean.to(at::kDouble).contiguous());
      numbers_.push_back(total(c).to(at::kDouble).contiguous());
    }
  }

  const RowMixture& mixture() const { return mixture_; }

  /// Returns f(parts, row) of every row. [n]
  template <class F>
  at::Tensor each(F f) const {
    at::Tensor out = at::empty_like(numbers_.front());
    double* to = out.mutable_data_ptr<double>();
    std::vector<const double*> from;
    for (const at::Tensor& one : numbers_) from.push_back(one.const_data_ptr<double>());
    over_range(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      std::vector<RowMixture::Part> parts(mixture_.size());
      for (int64_t row = begin; row < end; ++row) {
        for (size_t k = 0; k < parts.size(); ++k)
          parts[k] = mixture_.part(k, from[2 * k][row], from[2 * k + 1][row]);
        to[row] = f(std::span<const RowMixture::Part>(parts), row);
      }
    });
    return out;
  }

 private:
  static std::vector<ComponentShape> shapes_of(const std::vector<DensityComponent>& all) {
    std::vector<ComponentShape> shapes;
    for (const DensityComponent& c : all) shapes.push_back(shape_of(c));
    return shapes;
  }

  std::vector<DensityComponent> all_;
  RowMixture mixture_;
  std::vector<at::Tensor> numbers_;  // of each component the mean and the variance
};

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
  return y.to(at::kDouble).contiguous();
}

/// As moments(), of each row by target_moments().
DensityComponent moments_by_rows(const DensityComponent& c) {
  const at::Tensor from =
      at::stack({c.mean, c.aleatoric_var, c.epistemic_var}, 1).to(at::kDouble).contiguous();
  at::Tensor out = at::empty_like(from);
  const ComponentShape shape = shape_of(c);
  over_range(from.size(0), kGrain,
             [&, t = from.const_data_ptr<double>(), to = out.mutable_data_ptr<double>()](int64_t begin,
                                                                                         int64_t end) {
               for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
                 const RowMoments own = target_moments(shape, {t[i], t[i + 1], t[i + 2]});
                 to[i] = own.mean;
                 to[i + 1] = own.aleatoric_var;
                 to[i + 2] = own.epistemic_var;
               }
             });
  return {c.weight, out.select(1, 0).contiguous(), out.select(1, 1).contiguous(),
          out.select(1, 2).contiguous()};
}

/// The mean and the two variances of y under a component. For a log target they are those of a log-normal
/// distribution, whose epistemic variance is that of E[y | f] = exp(f + aleatoric_var / 2), within the bound
/// of DensityComponent::most.
DensityComponent moments(const DensityComponent& c) {
  if (c.warp == TargetWarp::log_below || c.warp == TargetWarp::logit) return moments_by_rows(c);
  if (c.warp == TargetWarp::none)
    return {c.weight, c.shift + c.scale * c.mean, c.scale * c.scale * c.aleatoric_var,
            c.scale * c.scale * c.epistemic_var};
  const at::Tensor share = ((c.most - c.mean).clamp_min(c.spare_var) / total(c)).clamp_max(1),
                   aleatoric = share * c.aleatoric_var, epistemic = share * c.epistemic_var;
  const at::Tensor unit = at::exp(c.mean + 0.5 * (aleatoric + epistemic)), square = (c.scale * unit).square();
  return {c.weight, c.shift + c.scale * unit, square * epistemic.exp() * aleatoric.expm1(),
          square * epistemic.expm1()};
}

}  // namespace

Regression bounded(const Regression& p, const TargetBounds& bounds) {
  const ComponentShape shape = shape_within(bounds);
  std::vector<DensityComponent> components = components_of(p);
  for (DensityComponent& c : components) {
    check(c.warp == TargetWarp::none, "bounded", "an answer to a target without bounds", "a warped density");
    c.mean = c.shift + c.scale * c.mean;
    c.aleatoric_var = c.scale * c.scale * c.aleatoric_var;
    c.epistemic_var = c.scale * c.scale * c.epistemic_var;
    c.warp = shape.warp;
    c.shift = shape.shift;
    c.scale = shape.scale;
  }
  Regression out = mixed(std::move(components));
  out.zeroed = p.zeroed;
  out.least = bounds.low;
  out.most = bounds.high;
  return out;
}

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
    check(c.warp == TargetWarp::none || c.warp == TargetWarp::logit || std::isinf(c.dof), "mixed",
          "a Gaussian log target", "a Student-t one");
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
  const MixtureRows rows(p);
  return rows.each([&rows, of = target.const_data_ptr<double>()](auto parts, int64_t row) {
    return -rows.mixture().log_density(parts, of[row]);
  });
}

double regression_nll(const Regression& p, const at::Tensor& y, const at::Tensor& weight) {
  return row_mean(regression_row_nll(p, y), weight, "regression_nll");
}

at::Tensor log_probability_between(const Regression& p, const at::Tensor& lower, const at::Tensor& upper) {
  constexpr const char* kBetween = "log_probability_between";
  check_shape(lower, {-1}, kBetween, "lower");
  check_shape(upper, {lower.size(0)}, kBetween, "upper");
  checked(p, at::zeros_like(lower), kBetween);
  const at::Tensor from = lower.to(at::kDouble).contiguous(), to = upper.to(at::kDouble).contiguous();
  check((from <= to).all().item<bool>(), kBetween, "lower <= upper in every row",
        "a lower bound above the upper one, or NaN");
  const MixtureRows rows(p);
  return rows.each(
      [&rows, a = from.const_data_ptr<double>(), b = to.const_data_ptr<double>()](auto parts, int64_t row) {
        return rows.mixture().log_between(parts, a[row], b[row]);
      });
}

at::Tensor normal_score(const Regression& p, const at::Tensor& y) {
  const at::Tensor target = checked(p, y, "normal_score");
  const MixtureRows rows(p);
  return rows.each([&rows, of = target.const_data_ptr<double>()](auto parts, int64_t row) {
    return rows.mixture().normal_score(parts, of[row]);
  });
}

at::Tensor quantile(const Regression& p, double z) {
  if (!std::isfinite(z)) refuse("quantile", "a finite normal score", fmt::format("{}", z));
  const MixtureRows rows(p);
  const RowMixture::Units units = rows.mixture().units(z);
  const at::Tensor var = total_var(p).to(at::kDouble).contiguous();
  return rows.each([&, of = var.const_data_ptr<double>()](auto parts, int64_t row) {
    const double x = rows.mixture().quantile(parts, units, std::sqrt(of[row]));
    return within(p, x);
  });
}

at::Tensor quantiles(const Regression& p, const at::Tensor& z) {
  check_shape(z, {-1, p.mean.size(0)}, "quantiles", "z");
  check_finite(z, "quantiles", "z");
  const at::Tensor scores = z.to(at::kDouble).t().contiguous();  // [n, S]
  const at::Tensor sd = total_var(p).to(at::kDouble).sqrt().contiguous();
  if (p.density.empty()) return within(p, p.mean + sd * z.to(at::kDouble));
  const MixtureRows rows(p);
  const int64_t draws = z.size(0);
  at::Tensor out = at::empty_like(scores);
  rows.each([&, at = scores.const_data_ptr<double>(), of = sd.const_data_ptr<double>(),
             to = out.mutable_data_ptr<double>()](auto parts, int64_t row) {
    for (int64_t s = row * draws; s < (row + 1) * draws; ++s) {
      const double x = rows.mixture().quantile(parts, rows.mixture().units(at[s]), of[row]);
      to[s] = within(p, x);
    }
    return 0.0;
  });
  return out.t();
}

at::Tensor regression_row_crps(const Regression& p, const at::Tensor& y) {
  const at::Tensor target = checked(p, y, "crps");
  const MixtureRows rows(p);
  const std::vector<RowMixture::Units> ends = rows.mixture().crps_ends();
  return rows.each([&, of = target.const_data_ptr<double>()](auto parts, int64_t row) {
    return rows.mixture().crps(parts, of[row], ends);
  });
}

}  // namespace slimbayes
