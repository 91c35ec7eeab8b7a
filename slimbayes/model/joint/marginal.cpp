#include "slimbayes/model/joint/marginal.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/density/count.h"
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
at::Tensor count_quantiles(const LogNormalRate& rate, const at::Tensor& z) {
  const at::Tensor mean = rate.log_mean.to(at::kDouble).contiguous(),
                   var = rate.log_var.to(at::kDouble).contiguous(), at = z.to(at::kDouble).contiguous();
  at::Tensor out = at::empty_like(at);
  const double *of_mean = mean.const_data_ptr<double>(), *of_var = var.const_data_ptr<double>(),
               *of_z = at.const_data_ptr<double>();
  double* to = out.mutable_data_ptr<double>();
  const int64_t n = mean.size(0);
  over_range(out.numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] =
          count_quantile({of_mean[i % n], of_var[i % n]}, std::exp(log_normal_cdf(within_counts(of_z[i]))));
  });
  return out;
}

}  // namespace

bool has_scores(TaskKind task) { return task == TaskKind::regression || task == TaskKind::counts; }

at::Tensor marginal_scores(const Predictive& p, const at::Tensor& y, const at::Tensor& u) {
  if (const auto* number = std::get_if<Regression>(&p)) return normal_score(*number, y);
  const LogNormalRate& rate = counts_of(p).rate;
  const at::Tensor below = poisson_lognormal_cdf(rate, y - 1), to = poisson_lognormal_cdf(rate, y);
  return at::special_ndtri(below + u * (to - below)).clamp(-kFarthestCount, kFarthestCount);
}

at::Tensor score_at(const Predictive& p, double y) {
  if (const auto* number = std::get_if<Regression>(&p))
    return normal_score(*number, at::full_like(number->mean, y, at::kDouble));
  const LogNormalRate& rate = counts_of(p).rate;
  return at::special_ndtri(
      poisson_lognormal_cdf(rate, at::full_like(rate.log_mean, std::floor(y), at::kDouble)));
}

at::Tensor marginal_quantiles(const Predictive& p, const at::Tensor& z) {
  if (const auto* number = std::get_if<Regression>(&p)) return quantiles(*number, z);
  return count_quantiles(counts_of(p).rate, z);
}

at::Tensor marginal_quantile(const Predictive& p, double z) {
  if (const auto* number = std::get_if<Regression>(&p)) return quantile(*number, z);
  const LogNormalRate& rate = counts_of(p).rate;
  return poisson_lognormal_quantile(rate, std::exp(log_normal_cdf(within_counts(z))));
}

at::Tensor marginal_log_density(const Predictive& p, const at::Tensor& y) {
  if (const auto* number = std::get_if<Regression>(&p)) return -regression_row_nll(*number, y);
  return poisson_lognormal_log_prob(counts_of(p).rate, y);
}

}  // namespace slimbayes
