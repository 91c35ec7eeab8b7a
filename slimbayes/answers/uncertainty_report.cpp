#include "slimbayes/answers/uncertainty_report.h"

#include <ATen/ATen.h>

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
nlohmann::json own_report(const Classes& p, const at::Tensor& y, const UncertaintyOptions& o) {
  const Reliability bins = reliability(p, y);
  return {{"selective", {{"score", "mutual_information"}}},
          {"errors", errors_report(p, y, uncertainty_scores(p, o.score))},
          {"reliability",
           {{"confidence", list_of<double>(bins.confidence)},
            {"accuracy", list_of<double>(bins.accuracy)},
            {"rows", list_of<int64_t>(bins.rows)}}}};
}

nlohmann::json own_report(const Counts&, const at::Tensor&, const UncertaintyOptions&) {
  return {{"selective", {{"score", "log_rate_sd"}}}};
}

nlohmann::json own_report(const Regression& p, const at::Tensor& y, const UncertaintyOptions& o) {
  const CalibrationCurve curve = calibration_curve(p, y, kCurvePoints);
  nlohmann::json report =
      o.score == "epistemic_sd" ? epistemic_report(p, y, o.target_sd, o.level) : nlohmann::json::object();
  nlohmann::json points = {{"level", list_of<double>(curve.level)},
                           {"coverage", list_of<double>(curve.coverage)},
                           {"area", curve.area}};
  if (!report.empty()) {
    const CalibrationCurve epistemic = calibration_curve(epistemic_part(p), y, kCurvePoints);
    points["coverage_epistemic"] = list_of<double>(epistemic.coverage);
    points["area_epistemic"] = epistemic.area;
  }
  report["calibration_curve"] = std::move(points);
  report["selective"] = {{"score", o.score.empty() ? "total_sd" : o.score}};
  return report;
}

nlohmann::json own_report(const Intensity&, const at::Tensor&, const UncertaintyOptions&) { return {}; }

}  // namespace

Scores uncertainty_scores(const Predictive& p, const std::string& score) {
  Scores all = scores(p, score);
  if (const auto* r = std::get_if<Regression>(&p)) all["total_sd"] = total_var(*r).sqrt();
  if (const auto* counts = std::get_if<Counts>(&p)) all["total_sd"] = total_var(*counts).sqrt();
  return all;
}

nlohmann::json uncertainty_report(const Predictive& p, const at::Tensor& y,
                                  const UncertaintyOptions& options) {
  const nlohmann::json selective = selective_report(p, y, uncertainty_scores(p, options.score));
  nlohmann::json report = std::visit([&](const auto& one) { return own_report(one, y, options); }, p);
  report["selective"].update(selective);
  return report;
}

}  // namespace slimbayes
