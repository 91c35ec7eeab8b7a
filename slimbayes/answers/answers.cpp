#include "slimbayes/answers/answers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/joined.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// The numbers of a predictive that non_finite() checks, in this order: pairs of a name, such as "sd", and
/// its value in every row [n].
using Numbers = std::vector<std::pair<const char*, at::Tensor>>;

Numbers numbers_of(const Regression& p) {
  return {{"mean", p.mean},
          {"sd", total_var(p).sqrt()},
          {"sd_aleatoric", p.aleatoric_var.sqrt()},
          {"sd_epistemic", p.epistemic_var.sqrt()}};
}

Numbers numbers_of(const Classes& p) {
  return {{"probability", p.probabilities.sum(-1)},
          {"entropy", p.predictive_entropy},
          {"expected entropy", p.expected_entropy}};
}

Numbers numbers_of(const Counts& p) {
  return {{"mean", mean(p)}, {"sd", total_var(p).sqrt()}, {"sd_epistemic", epistemic_var(p).sqrt()}};
}

Numbers numbers_of(const Intensity& p) { return {{"mean", mean(p.rate)}, {"sd", var(p.rate).sqrt()}}; }

Scores scores_of(const Regression& p, const std::string& score) {
  if (score.empty()) return {};
  check(score == "total_sd" || score == "epistemic_sd", "scores", "the score total_sd or epistemic_sd",
        score);
  return {{score, (score == "total_sd" ? total_var(p) : p.epistemic_var).sqrt()}};
}

Scores scores_of(const Classes& p, const std::string&) {
  return {{"mutual_information", mutual_information(p)},
          {"entropy", p.predictive_entropy},
          {"max_softmax", 1 - std::get<0>(p.probabilities.max(-1))}};
}

Scores scores_of(const Counts& p, const std::string&) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

Scores scores_of(const Intensity& p, const std::string&) { return {{"log_rate_sd", p.rate.log_var.sqrt()}}; }

Regression in_units_of(const Regression& p, double shift, double scale) { return rescaled(p, shift, scale); }

Classes in_units_of(const Classes& p, double, double) { return p; }

Counts in_units_of(const Counts& p, double, double) { return p; }

Intensity in_units_of(const Intensity& p, double shift, double) {
  return {{p.rate.log_mean + shift, p.rate.log_var}, p.zeroed};
}

Evaluation report_of(const Regression& p, const at::Tensor& y, const ReportOptions& o, const at::Tensor& w) {
  return regression_report(p, y, o.target_sd, {o.level, o.interval ? *o.interval : interval(p, o.level)}, w);
}

Evaluation report_of(const Classes& p, const at::Tensor& y, const ReportOptions& o, const at::Tensor& w) {
  Evaluation out = classes_report(p, y, o.levels, w);
  if (!o.set) return out;
  const SetReport sets = set_report(*o.set, y, w);
  out.coverage = sets.coverage;
  out.classes->set_size = sets.size;
  out.classes->empty = sets.empty;
  return out;
}

Evaluation report_of(const Counts& p, const at::Tensor& y, const ReportOptions& o, const at::Tensor& w) {
  return counts_report(p, y, o.level, w);
}

Evaluation report_of(const Intensity&, const at::Tensor&, const ReportOptions&, const at::Tensor&) {
  refuse("report", "an answer with a target a row", "an intensity", "events_report scores it");
}

/// Whether non_finite() finds nothing. Reads the numbers once, where its tensor operations would take longer
/// than the answer to a row.
bool all_finite(const Regression& p, const std::optional<Interval>& interval) {
  const auto n = p.mean.numel();
  std::vector<const double*> plain = {}, variances = {};
  const auto add = [n](const at::Tensor& x, std::vector<const double*>& to) {
    const bool readable = x.scalar_type() == at::kDouble && x.is_contiguous() && x.numel() == n;
    if (readable) to.push_back(x.const_data_ptr<double>());
    return readable;
  };
  if (!add(p.mean, plain) || !add(p.aleatoric_var, variances) || !add(p.epistemic_var, variances))
    return false;
  if (interval && !(add(interval->lower, plain) && add(interval->upper, plain))) return false;
  for (int64_t i = 0; i < n; ++i) {
    for (const double* each : plain)
      if (!std::isfinite(each[i])) return false;
    if (!(variances[0][i] >= 0 && variances[1][i] >= 0 && std::isfinite(variances[0][i] + variances[1][i])))
      return false;
  }
  return true;
}

}  // namespace

TaskKind task_of(const Predictive& p) {
  constexpr TaskKind kinds[] = {TaskKind::regression, TaskKind::classification, TaskKind::counts,
                                TaskKind::events};
  return kinds[p.index()];
}

int64_t row_count(const Predictive& p) {
  return std::visit([](const auto& one) { return numbers_of(one).front().second.size(0); }, p);
}

Predictive take(const Predictive& p, const at::Tensor& rows) {
  return over_parts({p}, "take", [&](const auto& parts) {
    return joined(parts, [&](const Tensors& x) { return x[0].index_select(0, rows); });
  });
}

Predictive concatenated(const std::vector<Predictive>& parts) {
  return over_parts(parts, "concatenated", [](const auto& same) {
    return joined(same, [](const Tensors& x) { return at::cat(x); });
  });
}

Predictive in_units(const Predictive& p, double shift, double scale) {
  return std::visit([&](const auto& one) -> Predictive { return in_units_of(one, shift, scale); }, p);
}

std::optional<double> mean_nll(const Predictive& p, const at::Tensor& y, const at::Tensor& weight) {
  if (const auto* r = std::get_if<Regression>(&p)) return regression_nll(*r, y, weight);
  if (const auto* classes = std::get_if<Classes>(&p)) return class_nll(*classes, y, weight);
  if (const auto* counts = std::get_if<Counts>(&p)) return count_nll(*counts, y, weight);
  return std::nullopt;
}

at::Tensor row_nll(const Predictive& p, const at::Tensor& y) {
  if (const auto* r = std::get_if<Regression>(&p)) return regression_row_nll(*r, y);
  if (const auto* classes = std::get_if<Classes>(&p)) return class_row_nll(*classes, y);
  const auto* counts = std::get_if<Counts>(&p);
  check(counts != nullptr, "row_nll", "an answer with a target a row", "an intensity");
  return count_row_nll(*counts, y);
}

Evaluation report(const Predictive& p, const at::Tensor& y, const ReportOptions& options,
                  const at::Tensor& weight) {
  return std::visit([&](const auto& one) { return report_of(one, y, options, weight); }, p);
}

Scores scores(const Predictive& p, const std::string& score) {
  return std::visit([&](const auto& one) { return scores_of(one, score); }, p);
}

std::vector<std::string> non_finite(const Predictive& p, const std::optional<Interval>& interval) {
  if (const auto* r = std::get_if<Regression>(&p); r != nullptr && all_finite(*r, interval))
    return std::vector<std::string>(static_cast<size_t>(r->mean.numel()));
  Numbers all = std::visit([](const auto& one) { return numbers_of(one); }, p);
  if (interval) {
    all.emplace_back("lower", interval->lower);
    all.emplace_back("upper", interval->upper);
  }
  std::vector<std::string> faults(static_cast<size_t>(all.front().second.size(0)));
  for (const auto& [name, values] : all) {
    const at::Tensor bad = at::isfinite(values).logical_not().nonzero().squeeze(1);
    for (int64_t i = 0; i < bad.size(0); ++i) {
      const int64_t row = bad[i].item<int64_t>();
      std::string& fault = faults[static_cast<size_t>(row)];
      if (fault.empty()) fault = fmt::format("{} is {}", name, values[row].item<double>());
    }
  }
  return faults;
}

}  // namespace slimbayes
