#include "slimbayes/answers/censored/survival_calibration.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Adds the weight w of a row between the cdf values `from` and `to` to the bins of [0, 1].
void add_to_bins(double from, double to, double w, std::vector<double>& bins) {
  const auto count = static_cast<double>(bins.size());
  const auto bin = [&](double u) { return std::min(static_cast<size_t>(u * count), bins.size() - 1); };
  if (!(to > from)) {
    bins[bin(from)] += w;
    return;
  }
  for (size_t k = bin(from); k <= bin(to); ++k) {
    const double low = std::max(from, static_cast<double>(k) / count);
    const double high = std::min(to, static_cast<double>(k + 1) / count);
    bins[k] += w * std::max(0.0, high - low) / (to - from);
  }
}

/// Returns the predictive cdf at these bounds, of which some may be infinite.
at::Tensor cdf_at(const Regression& p, const at::Tensor& bound) {
  const at::Tensor open = at::isinf(bound), z = normal_score(p, bound.masked_fill(open, 0));
  return at::where(open, (bound > 0).to(at::kDouble), at::special_ndtr(z));
}

}  // namespace

DistributionCalibration distribution_calibration(const at::Tensor& lower, const at::Tensor& upper,
                                                 int64_t bins, const at::Tensor& weight) {
  constexpr const char* kCalibration = "distribution_calibration";
  check_shape(lower, {-1}, kCalibration, "lower");
  const int64_t n = lower.size(0);
  check_shape(upper, {n}, kCalibration, "upper");
  check(n > 0, kCalibration, "at least one row", "none");
  if (bins < 2) refuse(kCalibration, "at least two bins", fmt::format("{}", bins));
  const at::Tensor from = lower.to(at::kDouble).contiguous(), to = upper.to(at::kDouble).contiguous();
  const at::Tensor valid = (from >= 0).logical_and(from <= to).logical_and(to <= 1);
  check(valid.all().item<bool>(), kCalibration, "0 <= lower <= upper <= 1", "other values");
  const at::Tensor each =
      weight.defined() ? checked_weight(weight, n, kCalibration).contiguous() : at::ones({n}, at::kDouble);
  std::vector<double> counts(static_cast<size_t>(bins));
  for (int64_t i = 0; i < n; ++i)
    add_to_bins(from.const_data_ptr<double>()[i], to.const_data_ptr<double>()[i],
                each.const_data_ptr<double>()[i], counts);
  const double total = total_weight(weight, n), expected = total / static_cast<double>(bins);
  DistributionCalibration out{at::tensor(counts, at::kDouble) / total};
  for (const double count : counts) out.statistic += (count - expected) * (count - expected) / expected;
  out.p_value = boost::math::gamma_q(0.5 * static_cast<double>(bins - 1), 0.5 * out.statistic);
  return out;
}

DistributionCalibration distribution_calibration(const Regression& p, const Censored& target, int64_t bins,
                                                 const at::Tensor& weight) {
  const Censored bounds = checked_censored(target, "distribution_calibration");
  const at::Tensor from = cdf_at(p, bounds.lower), to = cdf_at(p, bounds.upper);
  // Of bounds a rounding error apart the cdf may fall by one.
  return distribution_calibration(from, at::maximum(from, to), bins, weight);
}

std::vector<HorizonGroup> horizon_calibration(const SurvivalTimes& data, const at::Tensor& survival,
                                              double horizon, int64_t groups, const at::Tensor& weight,
                                              double level) {
  constexpr const char* kHorizon = "horizon_calibration";
  const SurvivalTimes own = checked_survival(data, kHorizon);
  const int64_t n = own.time.size(0);
  check_shape(survival, {n}, kHorizon, "survival");
  const at::Tensor predicted = survival.to(at::kCPU, at::kDouble);
  check((predicted >= 0).logical_and(predicted <= 1).all().item<bool>(), kHorizon, "survival of 0 to 1",
        "another value");
  if (!std::isfinite(horizon)) refuse(kHorizon, "a finite horizon", fmt::format("{}", horizon));
  if (groups < 1 || groups > n)
    refuse(kHorizon, "between one group and one for each row", fmt::format("{} of {} rows", groups, n));
  const at::Tensor each = weight.defined() ? checked_weight(weight, n, kHorizon) : at::Tensor();
  const at::Tensor order = std::get<1>(predicted.sort(/*stable=*/true, 0, /*descending=*/false));
  std::vector<HorizonGroup> out;
  for (int64_t g = 0; g < groups; ++g) {
    const at::Tensor rows = order.slice(0, g * n / groups, (g + 1) * n / groups);
    const at::Tensor w = each.defined() ? each.index_select(0, rows) : at::Tensor();
    const SurvivalCurve curve =
        kaplan_meier({own.time.index_select(0, rows), own.event.index_select(0, rows)}, w, level);
    HorizonGroup group{.rows = rows.size(0),
                       .predicted = row_mean(predicted.index_select(0, rows), w, kHorizon),
                       .observed = curve.at(horizon)};
    if (const std::optional<size_t> k = curve.place(horizon); group.observed) {
      group.lower = k ? curve.lower[*k] : 1;
      group.upper = k ? curve.upper[*k] : 1;
    }
    out.push_back(group);
  }
  return out;
}

}  // namespace slimbayes
