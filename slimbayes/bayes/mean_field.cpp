#include "slimbayes/bayes/independent_factors.h"
#include "slimbayes/bayes/structures.h"

namespace slimbayes {

std::unique_ptr<const Structure> make_mean_field(const RandomSite& site, const SitePlan& plan) {
  FactorForm form;
  form.factors = {{site.name, site.sizes, site.tokens}};
  form.start = [](size_t, const at::Tensor& start, const Stream&) { return start; };
  form.map = [](const std::vector<at::Tensor>& drawn, const at::Tensor& tokens) -> LinearMap {
    return DenseMap{drawn[0], tokens};
  };
  form.local = true;
  return independent_factors(plan, site.rate, std::move(form));
}

}  // namespace slimbayes
