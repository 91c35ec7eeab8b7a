#include "slimbayes/theory/kl_bound.h"

#include <ATen/ATen.h>

#include <cmath>

namespace slimbayes {

at::Tensor kl_bound_elements(const Law& law, const at::Tensor& location, const at::Tensor& scale,
                             const Prior& prior) {
  if (const auto* normal = std::get_if<NormalPrior>(&prior))
    return law.kl_to_normal(location, scale, normal->sd);
  const auto& mixture = std::get<MixturePrior>(prior);
  const auto part = [&](double share, double sd) {
    return law.kl_to_normal(location, scale, sd) - std::log(share);  // infinite for a share of 0
  };
  return at::minimum(part(mixture.share, mixture.wide), part(1 - mixture.share, mixture.narrow));
}

double kl_bound(const WeightPosterior& posterior, const WeightPlan& plan) {
  double sum = 0;
  for (const FactorPosterior& one : posterior.factors()) {
    const SitePlan& site = plan.sites.at(one.site);
    sum += kl_bound_elements(find_law(site.law), one.location.to(at::kDouble), one.scale.to(at::kDouble),
                             site.prior)
               .sum()
               .item<double>();
  }
  return sum;
}

}  // namespace slimbayes
