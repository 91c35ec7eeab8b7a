#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/bayes/independent_factors.h"
#include "slimbayes/bayes/structures.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan) {
  const int64_t most = std::min(site.out, site.in);
  check(plan.rank >= 1 && plan.rank <= most, "low_rank",
        fmt::format("a rank from 1 to {} at '{}', a matrix of {} x {}", most, site.name, site.out, site.in),
        fmt::format("{}", plan.rank));
  check(site.start_var > 0, "low_rank", fmt::format("initial values with a variance at '{}'", site.name),
        "a constant");
  FactorForm form;
  form.factors = {{site.name + ".a", {site.out, plan.rank}, site.tokens},
                  {site.name + ".b", {site.in, plan.rank}, false}};
  const double sd = std::pow(site.start_var / static_cast<double>(plan.rank), 0.25);
  form.start = [factors = form.factors, sd](size_t i, const at::Tensor&, const Stream& stream) {
    return sd * stream.normal(factors[i].sizes);
  };
  form.map = [](const std::vector<at::Tensor>& drawn, const at::Tensor& tokens) -> LinearMap {
    return FactoredMap{drawn[0], drawn[1], tokens};
  };
  return independent_factors(plan, site.rate, std::move(form));
}

}  // namespace slimbayes
