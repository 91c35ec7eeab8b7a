#include <ATen/ATen.h>

#include "slimbayes/bayes/independent_factors.h"
#include "slimbayes/bayes/structures.h"

namespace slimbayes {

namespace {

/// Returns W = diag(centre + s) V diag(centre + r), where s and r have the prior and start at 1 - centre.
std::unique_ptr<const Structure> scaled(const RandomSite& site, const SitePlan& plan, double centre) {
  FactorForm form;
  form.factors = {{site.name, site.sizes, site.tokens, /*random=*/false},
                  {site.name + ".s", {site.out}, site.tokens},
                  {site.name + ".r", {site.in}, false}};
  form.start = [factors = form.factors, centre](size_t i, const at::Tensor& start, const Stream&) {
    return i == 0 ? start : at::full(factors[i].sizes, 1 - centre, at::kDouble);
  };
  form.map = [centre](const std::vector<at::Tensor>& drawn, const at::Tensor& tokens) -> LinearMap {
    return ScaledMap{drawn[0].flatten(1), centre + drawn[1], centre + drawn[2], tokens};
  };
  return independent_factors(plan, site.rate, std::move(form));
}

}  // namespace

std::unique_ptr<const Structure> make_rank_one(const RandomSite& site, const SitePlan& plan) {
  return scaled(site, plan, 1);
}

std::unique_ptr<const Structure> make_rank_one_at_zero(const RandomSite& site, const SitePlan& plan) {
  return scaled(site, plan, 0);
}

}  // namespace slimbayes
