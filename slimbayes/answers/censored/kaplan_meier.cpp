#include "slimbayes/answers/censored/kaplan_meier.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

namespace {

/// Returns the curve without its intervals. `reverse`: of the censorings.
SurvivalCurve product_limit(const SurvivalTimes& checked, const at::Tensor& weight, bool reverse,
                            const char* function) {
  const int64_t n = checked.time.size(0);
  const at::Tensor each =
      weight.defined() ? checked_weight(weight, n, function).contiguous() : at::ones({n}, at::kDouble);
  const double* time = checked.time.const_data_ptr<double>();
  const bool* event = checked.event.const_data_ptr<bool>();
  const double* w = each.const_data_ptr<double>();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [time](int64_t i) { return time[i]; });
  SurvivalCurve out;
  std::vector<double> censored;  // the weight of the censorings at each time
  for (const int64_t i : order) {
    if (out.time.empty() || time[i] != out.time.back()) {
      out.time.push_back(time[i]);
      out.events.push_back(0);
      censored.push_back(0);
    }
    (event[i] ? out.events : censored).back() += w[i];
  }
  // From the last time on, so that what stays at risk after a time is a sum of positive numbers, or 0.
  std::vector<double> stays(out.time.size());
  out.at_risk.resize(out.time.size());
  double later = 0;
  for (size_t k = out.time.size(); k-- > 0;) {
    const double unseen = later + censored[k];  // the event was not seen up to this time
    stays[k] = reverse ? later : unseen;
    out.at_risk[k] = reverse ? unseen : unseen + out.events[k];
    later = unseen + out.events[k];
  }
  if (reverse) out.events = censored;
  double survival = 1, log_var = 0;
  for (size_t k = 0; k < out.time.size(); ++k) {
    if (out.events[k] > 0) {
      survival *= stays[k] / out.at_risk[k];
      if (stays[k] > 0) log_var += out.events[k] / (out.at_risk[k] * stays[k]);
    }
    out.survival.push_back(survival);
    out.log_var.push_back(log_var);
  }
  return out;
}

}  // namespace

SurvivalTimes checked_survival(const SurvivalTimes& data, std::string_view function) {
  check_shape(data.time, {-1}, function, "time");
  check(data.time.size(0) > 0, function, "at least one row", "none");
  check_shape(data.event, {data.time.size(0)}, function, "event");
  check_finite(data.time, function, "time");
  const at::Tensor observed = data.event == 1;
  check(observed.logical_or(data.event == 0).all().item<bool>(), function,
        "events of 1 (observed) or 0 (censored)", "another value");
  return {data.time.to(at::kCPU, at::kDouble).contiguous(), observed.to(at::kCPU).contiguous()};
}

std::optional<size_t> SurvivalCurve::place(double t) const {
  const auto after = std::ranges::upper_bound(time, t);
  if (after == time.begin()) return std::nullopt;
  return static_cast<size_t>(after - time.begin()) - 1;
}

std::optional<double> SurvivalCurve::at(double t) const {
  const std::optional<size_t> k = place(t);
  if (!k) return 1;
  if (t > time.back() && survival.back() > 0) return std::nullopt;
  return survival[*k];
}

SurvivalCurve kaplan_meier(const SurvivalTimes& data, const at::Tensor& weight, double level) {
  if (!(level > 0 && level < 1))
    refuse("kaplan_meier", "a level above 0 and below 1", fmt::format("{}", level));
  SurvivalCurve out = product_limit(checked_survival(data, "kaplan_meier"), weight, false, "kaplan_meier");
  const double z = normal_quantile(0.5 + 0.5 * level);
  for (size_t k = 0; k < out.time.size(); ++k) {
    const double s = out.survival[k], log_s = std::log(s);
    const bool point = s == 0 || s == 1;
    const double reach = point ? 0 : z * std::sqrt(out.log_var[k]) / -log_s;  // of log(-log S)
    out.lower.push_back(point ? s : std::exp(std::exp(reach) * log_s));
    out.upper.push_back(point ? s : std::exp(std::exp(-reach) * log_s));
  }
  return out;
}

SurvivalCurve censoring_curve(const SurvivalTimes& data, const at::Tensor& weight) {
  return product_limit(checked_survival(data, "censoring_curve"), weight, true, "censoring_curve");
}

double inverse_censoring(const SurvivalCurve& censoring, double t, std::string_view function) {
  const std::optional<double> share = censoring.at(t);
  if (!share || *share == 0)
    refuse(function, "times at which a row could still be seen, by the data of the censoring",
           fmt::format("{:g}, where no row was", t), "score up to an earlier time");
  return 1 / *share;
}

}  // namespace slimbayes
