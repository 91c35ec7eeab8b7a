#include "slimbayes/explain/answer_parts.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {
namespace {

constexpr double kLeastSd = 1e-300;  // whose logarithm is finite

at::Tensor log_sd(const at::Tensor& var) { return var.sqrt().clamp_min(kLeastSd).log(); }

}  // namespace

AnswerParts AnswerParts::at_rows(const at::Tensor& rows) const {
  const auto some = [&](const at::Tensor& x) { return x.defined() ? x.index_select(0, rows) : x; };
  return {some(mean), some(aleatoric), some(epistemic), some(spread), some(width)};
}

AnswerParts answer_parts(const Predictive& p, const std::optional<Interval>& interval) {
  const at::Tensor width = interval ? interval->upper - interval->lower : at::Tensor();
  if (const auto* classes = std::get_if<Classes>(&p))
    return {classes->probabilities,
            classes->expected_entropy,
            mutual_information(*classes),
            classes->predictive_entropy,
            {}};
  if (const auto* counts = std::get_if<Counts>(&p)) {
    return {mean(*counts), aleatoric_var(*counts).sqrt(), epistemic_var(*counts).sqrt(),
            log_sd(total_var(*counts)), width};
  }
  check(std::holds_alternative<Regression>(p), "explain", "answers to numbers, classes or counts",
        "intensities");
  const auto& r = std::get<Regression>(p);
  return {r.mean, r.aleatoric_var.sqrt(), r.epistemic_var.sqrt(), log_sd(total_var(r)), width};
}

}  // namespace slimbayes
