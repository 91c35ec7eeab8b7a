#include "slimbayes/model/joint/marginal.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/density/count_noise.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

namespace {

const Counts& counts_of(const Predictive& p) {
  const auto* counts = std::get_if<Counts>(&p);
  check(counts != nullptr, "marginal", "an answer of numbers or counts", "one of classes or events");
  return *counts;
}

double within_counts(double z) { return std::clamp(z, -kFarthestCount, kFarthestCount); }

/// Returns the quantiles of counts at the scores z [S, n].
at::Tensor count_quantiles(const Counts& p, const at::Tensor& z) {
  const auto numbers = [&](const at::Tensor& x) {
    return (x.defined() ? x.to(at::kDouble) : at::zeros_like(p.rate.log_mean, at::kDouble)).contiguous();
  };
  const at::Tensor mean = numbers(p.rate.log_mean), var = numbers(p.rate.log_var), at = numbers(z),
                   dispersion = numbers(p.dispersion), zeros = numbers(p.zero_share);
  at::Tensor out = at::empty_like(at);
  const double *of_mean = mean.const_data_ptr<double>(), *of_var = var.const_data_ptr<double>(),
               *of_z = at.const_data_ptr<double>(), *of_dispersion = dispersion.const_data_ptr<double>(),
               *of_zeros = zeros.const_data_ptr<double>();
  const bool poisson = p.is_poisson();
  double* to = out.mutable_data_ptr<double>();
  const int64_t n = mean.size(0);
  over_range(out.numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const LogRate rate{of_mean[i % n], of_var[i % n]};
      const double share = std::exp(log_normal_cdf(within_counts(of_z[i])));
      to[i] = poisson ? count_quantile(rate, share)
                      : count_quantile(rate, CountNoise{of_dispersion[i % n], of_zeros[i % n]}, share);
    }
  });
  return out;
}

}  // namespace

bool has_scores(TaskKind task) { return task == TaskKind::regression || task == TaskKind::counts; }

at::Tensor marginal_scores(const Predictive& p, const at::Tensor& y, const at::Tensor& u) {
  if (const auto* number = std::get_if<Regression>(&p)) return normal_score(*number, y);
  const Counts& counts = counts_of(p);
  const at::Tensor below = count_cdf(counts, y - 1), to = count_cdf(counts, y);
  return at::special_ndtri(below + u * (to - below)).clamp(-kFarthestCount, kFarthestCount);
}

at::Tensor score_at(const Predictive& p, double y) {
  if (const auto* number = std::get_if<Regression>(&p))
    return normal_score(*number, at::full_like(number->mean, y, at::kDouble));
  const Counts& counts = counts_of(p);
  return at::special_ndtri(
      count_cdf(counts, at::full_like(counts.rate.log_mean, std::floor(y), at::kDouble)));
}

at::Tensor marginal_quantiles(const Predictive& p, const at::Tensor& z) {
  if (const auto* number = std::get_if<Regression>(&p)) return quantiles(*number, z);
  return count_quantiles(counts_of(p), z);
}

at::Tensor marginal_quantile(const Predictive& p, double z) {
  if (const auto* number = std::get_if<Regression>(&p)) return quantile(*number, z);
  return count_quantile(counts_of(p), std::exp(log_normal_cdf(within_counts(z))));
}

at::Tensor marginal_log_density(const Predictive& p, const at::Tensor& y) {
  if (const auto* number = std::get_if<Regression>(&p)) return -regression_row_nll(*number, y);
  return count_log_prob(counts_of(p), y);
}

}  // namespace slimbayes
