#include "slimbayes/answers/conditional/excess_risk.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr const char* kExcessRisk = "excess_risk";

/// Returns the standard error of the mean of the folds' means.
double error_over_folds(const at::Tensor& gain, const at::Tensor& fold, int64_t folds,
                        const at::Tensor& weight) {
  std::vector<double> means;
  for (int64_t k = 0; k < folds; ++k) {
    const at::Tensor rows = (fold == k).nonzero().squeeze(1);
    const at::Tensor own = weight.defined() ? weight.index_select(0, rows) : weight;
    means.push_back(weighted_mean(gain.index_select(0, rows), own));
  }
  const at::Tensor all = at::tensor(means, at::kDouble);
  return all.std(/*unbiased=*/true).item<double>() / std::sqrt(static_cast<double>(folds));
}

}  // namespace

ExcessRisk excess_risk(const at::Tensor& covered, const at::Tensor& p, const at::Tensor& fold, double level,
                       const at::Tensor& weight) {
  check_shape(covered, {-1}, kExcessRisk, "covered");
  check_shape(p, covered.sizes(), kExcessRisk, "p");
  check_shape(fold, covered.sizes(), kExcessRisk, "fold");
  if (!(level > 0 && level < 1)) refuse(kExcessRisk, "0 < level < 1", fmt::format("{}", level));
  check(covered.numel() > 0 && ((p >= 0) & (p <= 1)).all().item<bool>(), kExcessRisk,
        "rows with probabilities from 0 to 1", "others");
  const int64_t folds = 1 + fold.max().item<int64_t>();
  check(folds >= 2 && at::bincount(fold.to(at::kLong), {}, folds).ge(1).all().item<bool>(), kExcessRisk,
        "two folds or more, each with rows", "others");
  const at::Tensor w = checked_weight(weight, covered.numel(), kExcessRisk);
  const at::Tensor z = covered.to(at::kDouble), q = p.to(at::kDouble);
  const at::Tensor l1 = (q - level).sign() * (z - level), brier = (level - z).square() - (q - z).square();
  ExcessRisk out{.rows = covered.numel(), .folds = folds};
  out.ert_l1 = weighted_mean(l1, w);
  out.ert_l1_se = error_over_folds(l1, fold, folds, w);
  out.ert_brier = weighted_mean(brier, w);
  out.ert_brier_se = error_over_folds(brier, fold, folds, w);
  out.says =
      *out.ert_l1 > 2 * *out.ert_l1_se
          ? fmt::format(
                "The coverage given the inputs is off its level by at least {:.1f} points on "
                "average, as far as the classifier can tell.",
                100 * *out.ert_l1)
          : "The classifier finds no inputs for which the coverage is off its level by more than chance.";
  return out;
}

}  // namespace slimbayes
