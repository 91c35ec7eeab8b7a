#include "slimbayes/core/answers.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/class_metrics.h"
#include "slimbayes/core/count_metrics.h"
#include "slimbayes/core/metrics.h"

namespace slimbayes {

namespace {

using Tensors = std::vector<at::Tensor>;  // one field of several predictives: one tensor per predictive

/// Returns one field of every part, for example the mean of each Regression. `field` maps a part to the
/// field.
template <class Answer, class Field>
Tensors column(const std::vector<Answer>& parts, Field field) {
  Tensors all;
  for (const Answer& part : parts) all.push_back(field(part));
  return all;
}

/// Merges several predictives of one type into one of that type: each of its tensors is join(t), where t
/// lists the corresponding tensors of the parts. `join` is for example a concatenation or an average. The
/// field `zeroed` of the result is 0.
template <class Join>
Regression joined(const std::vector<Regression>& parts, Join join) {
  return {join(column(parts, [](const auto& p) { return p.mean; })),
          join(column(parts, [](const auto& p) { return p.aleatoric_var; })),
          join(column(parts, [](const auto& p) { return p.epistemic_var; }))};
}

template <class Join>
Classes joined(const std::vector<Classes>& parts, Join join) {
  return {join(column(parts, [](const auto& p) { return p.probabilities; })),
          join(column(parts, [](const auto& p) { return p.predictive_entropy; })),
          join(column(parts, [](const auto& p) { return p.expected_entropy; }))};
}

template <class Answer, class Join>
requires requires(Answer p) { p.rate; }
Answer joined(const std::vector<Answer>& parts, Join join) {
  return {{join(column(parts, [](const auto& p) { return p.rate.log_mean; })),
           join(column(parts, [](const auto& p) { return p.rate.log_var; }))}};
}

template <class Answer>
int64_t zeroed_of(const std::vector<Answer>& parts) {
  int64_t all = 0;
  for (const Answer& part : parts) all += part.zeroed;
  return all;
}

/// Checks that all parts hold the same type of predictive, such as Regression, and returns call(same), where
/// `same` is the list of the parts as that type. The field `zeroed` of the result is the sum over the parts.
/// Throws std::invalid_argument if `parts` is empty or the types differ; the message names `function`.
template <class Call>
Predictive over_parts(const std::vector<Predictive>& parts, const char* function, Call call) {
  check(!parts.empty(), function, "at least one part", "none");
  return std::visit(
      [&](const auto& first) -> Predictive {
        using Answer = std::decay_t<decltype(first)>;
        std::vector<Answer> same;
        for (const Predictive& part : parts) {
          check(std::holds_alternative<Answer>(part), function,
                fmt::format("answers to one task, {}", name_of(task_of(parts.front()))),
                fmt::format("one to {}", name_of(task_of(part))));
          same.push_back(std::get<Answer>(part));
        }
        Answer whole = call(same);
        whole.zeroed = zeroed_of(same);
        return whole;
      },
      parts.front());
}

/// Stacks k tensors of equal shape [n, ...] along a new first axis. Throws std::invalid_argument if the
/// shapes differ. [k, n, ...]
at::Tensor stacked(const Tensors& parts) {
  for (const at::Tensor& x : parts) check_shape(x, parts.front().sizes(), "mixture", "a part");
  return at::stack(parts);
}

at::Tensor average(const Tensors& parts) { return stacked(parts).mean(0); }

Regression mixed(const std::vector<Regression>& parts) {
  Regression p = joined(parts, average);
  // The variance of the means is computed from the deviations. The formula E[x^2] - E[x]^2 would subtract two
  // large, nearly equal numbers if the means are nearly equal, and lose digits.
  const at::Tensor means = stacked(column(parts, [](const auto& part) { return part.mean; }));
  p.epistemic_var = p.epistemic_var + (means - p.mean).square().mean(0);
  return p;
}

Classes mixed(const std::vector<Classes>& parts) {
  Classes p = joined(parts, average);
  p.predictive_entropy = -at::special_xlogy(p.probabilities, p.probabilities).sum(-1);
  return p;
}

/// Returns the log-normal rate that has the mean E and the variance var of the mixture. Let a_i be the log of
/// the mean rate of part i and v_i its log_var. Then log E = log mean exp(a_i), and the log_var of the result
/// is log(1 + var / E^2) = log mean exp(2 (a_i - log E) + v_i). The second formula is relative to E, so that
/// nothing overflows. It is computed with expm1 and log1p, which keep the digits of a small variance.
template <class Answer>
requires requires(Answer p) { p.rate; }
Answer mixed(const std::vector<Answer>& parts) {
  const at::Tensor log_var = stacked(column(parts, [](const auto& p) { return p.rate.log_var; }));
  const at::Tensor log_mean =
      stacked(column(parts, [](const auto& p) { return p.rate.log_mean; })) + 0.5 * log_var;  // a_i [k, n]
  const double k = static_cast<double>(parts.size());
  const at::Tensor whole = at::logsumexp(log_mean, {0}) - std::log(k);
  // The log_var of the result. It is at least 0 by Jensen's inequality; the clamp removes rounding errors
  // below 0.
  const at::Tensor var = at::log1p(at::expm1(2 * (log_mean - whole) + log_var).mean(0)).clamp_min(0);
  return {{whole - 0.5 * var, var}};
}

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
  return {{"mean", mean(p.rate)}, {"sd", total_var(p).sqrt()}, {"sd_epistemic", var(p.rate).sqrt()}};
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

nlohmann::json report_of(const Regression& p, const at::Tensor& y, const ReportOptions& o) {
  return regression_report(p, y, o.target_sd,
                           {o.level, o.interval ? *o.interval : gaussian_interval(p, o.level)});
}

nlohmann::json report_of(const Classes& p, const at::Tensor& y, const ReportOptions& o) {
  const int64_t classes = p.probabilities.size(-1);
  check(std::ssize(o.levels) == classes, "report", fmt::format("the names of {} classes", classes),
        fmt::format("{} names", o.levels.size()));
  nlohmann::json report = classes_report(p, y);
  report["classes"] = o.levels;
  report["base_class"] = o.levels.at(report["base_class"].get<size_t>());
  if (o.set) report.update(set_report(*o.set, y));
  return report;
}

nlohmann::json report_of(const Counts& p, const at::Tensor& y, const ReportOptions& o) {
  return counts_report(p, y, o.level);
}

nlohmann::json report_of(const Intensity&, const at::Tensor&, const ReportOptions&) {
  check(false, "report", "an answer with a target a row", "an intensity", "events_report scores it");
  return {};
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

Predictive mixture(const std::vector<Predictive>& parts) {
  return over_parts(parts, "mixture", [](const auto& same) { return mixed(same); });
}

Regression mixture(const std::vector<Regression>& parts) {
  return std::get<Regression>(mixture(std::vector<Predictive>(parts.begin(), parts.end())));
}

Predictive in_units(const Predictive& p, double shift, double scale) {
  return std::visit([&](const auto& one) -> Predictive { return in_units_of(one, shift, scale); }, p);
}

std::optional<double> mean_nll(const Predictive& p, const at::Tensor& y) {
  if (const auto* r = std::get_if<Regression>(&p)) return gaussian_nll(*r, y);
  if (const auto* classes = std::get_if<Classes>(&p)) return class_nll(*classes, y);
  if (const auto* counts = std::get_if<Counts>(&p)) return count_nll(*counts, y);
  return std::nullopt;
}

nlohmann::json report(const Predictive& p, const at::Tensor& y, const ReportOptions& options) {
  return std::visit([&](const auto& one) { return report_of(one, y, options); }, p);
}

Scores scores(const Predictive& p, const std::string& score) {
  return std::visit([&](const auto& one) { return scores_of(one, score); }, p);
}

std::vector<std::string> non_finite(const Predictive& p, const std::optional<Interval>& interval) {
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
