#include <ATen/ATen.h>

#include "slimbayes/bayes/independent_factors.h"
#include "slimbayes/bayes/structures.h"

namespace slimbayes {

std::unique_ptr<const Structure> make_rank_one(const RandomSite& site, const SitePlan& plan) {
  FactorForm form;
  form.factors = {{site.name, site.sizes, site.tokens, /*random=*/false},
                  {site.name + ".s", {site.out}, site.tokens},
                  {site.name + ".r", {site.in}, false}};
  form.start = [factors = form.factors](size_t i, const at::Tensor& start, const Stream&) {
    return i == 0 ? start : at::zeros(factors[i].sizes, at::kDouble);
  };
  form.map = [](const std::vector<at::Tensor>& drawn, const at::Tensor& tokens) -> LinearMap {
    return ScaledMap{drawn[0].flatten(1), 1 + drawn[1], 1 + drawn[2], tokens};
  };
  return independent_factors(plan, site.rate, std::move(form));
}

}  // namespace slimbayes
