#include "slimbayes/answers/joint/region.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <utility>

#include "slimbayes/answers/joint/box_probability.h"
#include "slimbayes/answers/joint/correlation_factor.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

double region_factor(const at::Tensor& correlation, double level) {
  constexpr const char* kFunction = "region_factor";
  check_shape(correlation, {-1, -1}, kFunction, "correlation");
  const int64_t k = correlation.size(0);
  correlation_factor(correlation, k, kFunction);
  if (!(level > 0 && level <= kMostLevel))
    refuse(kFunction, "a level above 0 and below 1", fmt::format("{}", level));
  const auto independent = [level](int64_t targets) {
    return normal_quantile((1 + std::pow(level, 1 / static_cast<double>(targets))) / 2);
  };
  const double least = independent(1), most = independent(k);
  if (correlation.tril(-1).eq(0).all().item<bool>()) return most;
  const auto excess = [&](double c) {
    const at::Tensor end = at::full({1, k}, c, at::kDouble);
    return box_probability(-end, end, correlation, BoxLattice::fine).item<double>() - level;
  };
  // The error of the lattice can move the root beyond the bounds, within which the true one lies.
  const double at_least = excess(least), at_most = excess(most);
  if (at_least >= 0) return least;
  if (at_most <= 0) return most;
  uintmax_t tries = 60;
  const std::pair<double, double> root = boost::math::tools::toms748_solve(
      excess, least, most, at_least, at_most, boost::math::tools::eps_tolerance<double>(40), tries);
  return (root.first + root.second) / 2;
}

at::Tensor region_scores(const at::Tensor& z) {
  constexpr double kUnreachable = 1e6;  // sds, of a target outside the range of its density
  check_shape(z, {-1, -1}, "region_scores", "z");
  const at::Tensor known = z.isnan().logical_not();
  check(known.any(1).all().item<bool>(), "region_scores", "a known target in every row", "rows without one");
  return at::where(known, z.to(at::kDouble).abs(), 0.0).amax(1).clamp_max(kUnreachable);
}

}  // namespace slimbayes
