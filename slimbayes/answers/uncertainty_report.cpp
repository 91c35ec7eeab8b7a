#include "slimbayes/answers/uncertainty_report.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/answers/selective.h"

namespace slimbayes {

namespace {

constexpr int64_t kCurvePoints = 19;  // the levels 5, 10, ..., 95 %

template <class Number>
std::vector<Number> list_of(const at::Tensor& x) {
  const at::Tensor flat = x.contiguous();
  return {flat.const_data_ptr<Number>(), flat.const_data_ptr<Number>() + flat.numel()};
}

/// Returns the part of the report that only this task has, with the name of its first score.
UncertaintyReport own_report(const Classes& p, const at::Tensor& y, const UncertaintyOptions& o,
                             const at::Tensor& w) {
  const Reliability bins = reliability(p, y, Bins::equal_mass, 15, w);
  UncertaintyReport report{{"mutual_information"}};
  report.errors = errors_report(p, y, uncertainty_scores(p, o.score), w);
  report.reliability = ReliabilityBins{list_of<double>(bins.confidence), list_of<double>(bins.accuracy),
                                       list_of<int64_t>(bins.rows)};
  if (bins.weight.defined()) report.reliability->weight = list_of<double>(bins.weight);
  return report;
}

UncertaintyReport own_report(const Counts&, const at::Tensor&, const UncertaintyOptions&, const at::Tensor&) {
  return {{"log_rate_sd"}};
}

UncertaintyReport own_report(const Regression& p, const at::Tensor& y, const UncertaintyOptions& o,
                             const at::Tensor& w) {
  const CalibrationCurve curve = calibration_curve(p, y, kCurvePoints, w);
  UncertaintyReport report{{o.score.empty() ? "total_sd" : o.score}};
  if (o.score == "epistemic_sd") report.epistemic = epistemic_report(p, y, o.target_sd, o.level, w);
  CurveFact& points = report.calibration_curve.emplace();
  points.level = list_of<double>(curve.level);
  points.coverage = list_of<double>(curve.coverage);
  points.area = curve.area;
  if (report.epistemic) {
    const CalibrationCurve epistemic = calibration_curve(epistemic_part(p), y, kCurvePoints, w);
    points.coverage_epistemic = list_of<double>(epistemic.coverage);
    points.area_epistemic = epistemic.area;
  }
  return report;
}

UncertaintyReport own_report(const Intensity&, const at::Tensor&, const UncertaintyOptions&,
                             const at::Tensor&) {
  return {};
}

}  // namespace

Scores uncertainty_scores(const Predictive& p, const std::string& score) {
  Scores all = scores(p, score);
  if (const auto* r = std::get_if<Regression>(&p)) all["total_sd"] = total_var(*r).sqrt();
  if (const auto* counts = std::get_if<Counts>(&p)) all["total_sd"] = total_var(*counts).sqrt();
  return all;
}

UncertaintyReport uncertainty_report(const Predictive& p, const at::Tensor& y,
                                     const UncertaintyOptions& options, const at::Tensor& weight) {
  SelectiveReport selective = selective_report(p, y, uncertainty_scores(p, options.score), weight);
  UncertaintyReport report =
      std::visit([&](const auto& one) { return own_report(one, y, options, weight); }, p);
  selective.score = std::move(report.selective.score);
  report.selective = std::move(selective);
  return report;
}

}  // namespace slimbayes
