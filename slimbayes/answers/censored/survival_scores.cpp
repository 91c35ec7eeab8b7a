#include "slimbayes/answers/censored/survival_scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <vector>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/ranking.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns the times in float64 on the CPU after checking them.
at::Tensor checked_times(const at::Tensor& times, const char* function) {
  check_shape(times, {-1}, function, "times");
  check(times.size(0) > 0, function, "at least one time", "none");
  check_finite(times, function, "times");
  const at::Tensor out = times.to(at::kCPU, at::kDouble).contiguous();
  check((out.diff() > 0).all().item<bool>(), function, "times in ascending order", "another order");
  return out;
}

/// Returns 1 / G(time) of the rows with an event up to `last`, and 0 of the others. [n]
at::Tensor event_weights(const SurvivalCurve& censoring, const SurvivalTimes& data, double last,
                         const char* function) {
  at::Tensor out = at::zeros_like(data.time);
  const double* time = data.time.const_data_ptr<double>();
  const bool* event = data.event.const_data_ptr<bool>();
  double* to = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < data.time.size(0); ++i)
    if (event[i] && time[i] <= last) to[i] = inverse_censoring(censoring, time[i], function);
  return out;
}

}  // namespace

at::Tensor survival_probability(const Regression& p, const at::Tensor& times) {
  const at::Tensor all = checked_times(times, "survival_probability");
  std::vector<at::Tensor> columns;
  for (int64_t k = 0; k < all.size(0); ++k) {
    const at::Tensor z = normal_score(p, at::full({p.mean.size(0)}, all[k].item<double>(), at::kDouble));
    columns.push_back(at::special_ndtr(-z));
  }
  return at::stack(columns, 1);
}

at::Tensor survival_brier(const SurvivalTimes& training, const SurvivalTimes& data,
                          const at::Tensor& survival, const at::Tensor& times, const at::Tensor& weight) {
  constexpr const char* kBrier = "survival_brier";
  const SurvivalCurve censoring = censoring_curve(training);
  const SurvivalTimes own = checked_survival(data, kBrier);
  const at::Tensor at_times = checked_times(times, kBrier);
  check_shape(survival, {own.time.size(0), at_times.size(0)}, kBrier, "survival");
  const at::Tensor predicted = survival.to(at::kCPU, at::kDouble);
  check((predicted >= 0).logical_and(predicted <= 1).all().item<bool>(), kBrier, "survival of 0 to 1",
        "another value");
  const at::Tensor by_event = event_weights(censoring, own, at_times[-1].item<double>(), kBrier);
  at::Tensor out = at::empty_like(at_times);
  for (int64_t k = 0; k < at_times.size(0); ++k) {
    const double t = at_times[k].item<double>();
    const at::Tensor later = own.time > t, s = predicted.select(1, k);
    const double of_later = later.any().item<bool>() ? inverse_censoring(censoring, t, kBrier) : 0;
    const at::Tensor rows = at::where(later, (1 - s).square() * of_later, s.square() * by_event);
    out[k] = row_mean(rows, weight, kBrier);
  }
  return out;
}

double integrated_survival_brier(const SurvivalTimes& training, const SurvivalTimes& data,
                                 const at::Tensor& survival, const at::Tensor& times,
                                 const at::Tensor& weight) {
  const at::Tensor scores = survival_brier(training, data, survival, times, weight);
  check(scores.size(0) > 1, "integrated_survival_brier", "at least two times", "one");
  const at::Tensor t = times.to(at::kCPU, at::kDouble);
  return at::trapezoid(scores, t).item<double>() / (t[-1] - t[0]).item<double>();
}

DynamicAuc dynamic_auc(const SurvivalTimes& training, const SurvivalTimes& data, const at::Tensor& risk,
                       const at::Tensor& times, const at::Tensor& weight) {
  constexpr const char* kAuc = "dynamic_auc";
  const SurvivalCurve censoring = censoring_curve(training), seen = kaplan_meier(data, weight);
  const SurvivalTimes own = checked_survival(data, kAuc);
  const at::Tensor at_times = checked_times(times, kAuc);
  const int64_t n = own.time.size(0), count = at_times.size(0);
  const bool for_each_time = risk.defined() && risk.dim() == 2;
  check_shape(risk, for_each_time ? std::vector<int64_t>{n, count} : std::vector<int64_t>{n}, kAuc, "risk");
  const at::Tensor all = for_each_time ? risk : risk.unsqueeze(1).expand({n, count});
  const at::Tensor by_event = event_weights(censoring, own, at_times[-1].item<double>(), kAuc);
  const at::Tensor each = weight.defined() ? checked_weight(weight, n, kAuc) : at::ones({n}, at::kDouble);
  DynamicAuc out{at::empty_like(at_times)};
  double before = 1, sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    const double t = at_times[k].item<double>();
    const at::Tensor later = own.time > t;
    const at::Tensor cases = own.event.logical_and(later.logical_not()).nonzero().squeeze(1),
                     controls = later.nonzero().squeeze(1), column = all.select(1, k);
    if (cases.numel() == 0 || controls.numel() == 0)
      refuse(kAuc, "a row with an event up to each time and one with a later time",
             fmt::format("none at {:g}", t));
    const double auc = auroc(column.index_select(0, controls), column.index_select(0, cases),
                             each.index_select(0, controls), (each * by_event).index_select(0, cases));
    // The time is before the last one, that of a control, so that the curve is known.
    const double survival = seen.at(t).value();
    sum += auc * (before - survival);
    before = survival;
    out.auc[k] = auc;
  }
  check(before < 1, kAuc, "a Kaplan-Meier curve that falls up to the last time", "no event");
  out.mean = sum / (1 - before);
  return out;
}

}  // namespace slimbayes
