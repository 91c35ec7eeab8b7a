#include "slimbayes/answers/predictive.h"

#include <ATen/ATen.h>

#include <cmath>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

at::Tensor total_var(const Regression& p) { return p.aleatoric_var + p.epistemic_var; }

at::Tensor within(const Regression& p, const at::Tensor& y) {
  const at::Tensor raised = std::isinf(p.least) ? y : y.clamp_min(p.least);
  return std::isinf(p.most) ? raised : raised.clamp_max(p.most);
}

at::Tensor median(const Regression& p) {
  if (!p.density.empty()) return quantile(p, 0);
  return within(p, p.mean);
}

at::Tensor mutual_information(const Classes& p) {
  const double most = std::log(static_cast<double>(p.probabilities.size(-1)));
  at::Tensor difference = p.predictive_entropy - p.expected_entropy;
  // The mutual information is at most log C. That is the scale by which rounded_variance() tells rounding
  // errors from faults; a NaN scale makes it return NaN for a row whose entropies are NaN instead of
  // throwing.
  return rounded_variance(difference, at::where(difference.isnan(), difference, most)).var;
}

at::Tensor predicted_class(const Classes& p) { return p.probabilities.argmax(-1); }

at::Tensor mean(const LogNormalRate& rate) { return at::exp(rate.log_mean + 0.5 * rate.log_var); }

at::Tensor var(const LogNormalRate& rate) { return mean(rate).square() * at::expm1(rate.log_var); }

at::Tensor mean(const Counts& p) {
  const at::Tensor of_rate = mean(p.rate);
  return p.zero_share.defined() ? (1 - p.zero_share) * of_rate : of_rate;
}

at::Tensor epistemic_var(const Counts& p) {
  const at::Tensor of_rate = var(p.rate);
  return p.zero_share.defined() ? (1 - p.zero_share).square() * of_rate : of_rate;
}

at::Tensor aleatoric_var(const Counts& p) {
  const at::Tensor centre = mean(p.rate);
  if (p.is_poisson()) return centre;
  const at::Tensor square = centre.square() * at::exp(p.rate.log_var), none = at::zeros_like(centre);
  const at::Tensor a = p.dispersion.defined() ? p.dispersion : none,
                   z = p.zero_share.defined() ? p.zero_share : none;
  return (1 - z) * (centre + (a + z) * square);
}

at::Tensor total_var(const Counts& p) { return aleatoric_var(p) + epistemic_var(p); }

Interval interval(const Regression& p, double level) {
  check_level(level, "interval");
  const double z = normal_quantile((1 + level) / 2);
  if (!p.density.empty()) return {quantile(p, -z), quantile(p, z)};
  const at::Tensor half = z * total_var(p).sqrt();
  return {within(p, p.mean - half), within(p, p.mean + half)};
}

Interval interval(const Counts& p, double level) {
  check_level(level, "interval");
  return {count_quantile(p, (1 - level) / 2), count_quantile(p, (1 + level) / 2)};
}

Interval interval(const Intensity& p, double level) {
  check_level(level, "interval");
  at::Tensor half = normal_quantile((1 + level) / 2) * p.rate.log_var.sqrt();
  return {at::exp(p.rate.log_mean - half), at::exp(p.rate.log_mean + half)};
}

Regression rescaled(const Regression& p, double shift, double scale) {
  if (!(scale > 0 && std::isfinite(scale))) refuse("rescaled", "a finite scale > 0", std::to_string(scale));
  if (!std::isfinite(shift)) refuse("rescaled", "a finite shift", std::to_string(shift));
  Regression out{shift + scale * p.mean,
                 scale * scale * p.aleatoric_var,
                 scale * scale * p.epistemic_var,
                 p.zeroed,
                 p.density,
                 shift + scale * p.least,
                 shift + scale * p.most};
  for (DensityComponent& c : out.density) {
    c.shift = shift + scale * c.shift;
    c.scale = scale * c.scale;
  }
  return out;
}

}  // namespace slimbayes
