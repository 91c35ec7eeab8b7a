#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/bayes/independent_factors.h"
#include "slimbayes/bayes/structures.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns factor i (0: A, 1: B) of the best approximation A B^T of rank r of W [out, in]. Columns beyond the
/// smaller side of W are 0. [out or in, r]
at::Tensor factor_of(const at::Tensor& w, size_t i, int64_t rank) {
  const auto [u, s, vt] = at::linalg_svd(w.to(at::kDouble), /*full_matrices=*/false);
  const at::Tensor vectors = i == 0 ? u : vt.t();
  const int64_t own = std::min(rank, s.size(0));
  at::Tensor factor = at::zeros({vectors.size(0), rank}, vectors.options());
  factor.narrow(1, 0, own).copy_(vectors.narrow(1, 0, own) * s.narrow(0, 0, own).sqrt());
  return factor;
}

}  // namespace

std::unique_ptr<const Structure> make_low_rank(const RandomSite& site, const SitePlan& plan) {
  if (!(plan.rank >= 1 && plan.rank <= kMostRank))
    refuse("low_rank",
           fmt::format("a rank from 1 to {} at '{}', a matrix of {} x {}", kMostRank, site.name, site.out,
                       site.in),
           fmt::format("{}", plan.rank));
  if (!(plan.start == "svd" || site.start_var > 0))
    refuse("low_rank", fmt::format("initial values with a variance at '{}'", site.name), "a constant");
  FactorForm form;
  form.factors = {{site.name + ".a", {site.out, plan.rank}, site.tokens},
                  {site.name + ".b", {site.in, plan.rank}, false}};
  const double sd = plan.damping * std::pow(site.start_var / static_cast<double>(plan.rank), 0.25);
  const bool svd = plan.start == "svd";
  form.start = [factors = form.factors, sd, svd](size_t i, const at::Tensor& start, const Stream& stream) {
    return svd ? factor_of(start.flatten(1), i, factors[i].sizes[1]) : sd * stream.normal(factors[i].sizes);
  };
  form.map = [](const std::vector<at::Tensor>& drawn, const at::Tensor& tokens) -> LinearMap {
    return FactoredMap{drawn[0], drawn[1], tokens};
  };
  return independent_factors(plan, site.rate, std::move(form));
}

}  // namespace slimbayes
