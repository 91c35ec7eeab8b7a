#include "slimbayes/answers/separation_report.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>
#include <vector>

#include "slimbayes/answers/ranking.h"

namespace slimbayes {

namespace {

/// Adds the ratio of the mean scores to the report, or the reason why there is none.
void add_ratio(const std::string& name, const at::Tensor& inside, const at::Tensor& outside,
               SeparationReport& report) {
  const double below = inside.mean(at::kDouble).item<double>(),
               ratio = outside.mean(at::kDouble).item<double>() / below;
  if ((inside < 0).any().item<bool>() || (outside < 0).any().item<bool>())
    report.ratio_absent[name] = "the score takes negative values";
  else if (below == 0)
    report.ratio_absent[name] = "the mean of the score over the data is 0";
  else if (!std::isfinite(ratio))
    report.ratio_absent[name] = "the ratio is too large for a number";
  else
    report.ratio[name] = ratio;
}

std::vector<int64_t> counts_in(const at::Tensor& scores, double low, double high, int64_t bins) {
  const at::Tensor place =
      ((scores.to(at::kDouble) - low) / (high - low) * static_cast<double>(bins)).floor();
  const at::Tensor counts =
      at::bincount(place.clamp(0, static_cast<double>(bins - 1)).to(at::kLong), {}, bins);
  return {counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + bins};
}

}  // namespace

SeparationReport separation_report(const Scores& inside, const Scores& outside) {
  constexpr double kSds = 3;
  SeparationReport report;
  for (const auto& [name, near] : inside) {
    const at::Tensor& far = outside.at(name);
    const double area = auroc(near, far);
    report.auroc[name] = area;
    report.fpr95[name] = false_positive_rate(near, far, 0.95);
    report.tpr5[name] = true_positive_rate(near, far, 0.05);
    report.aupr_ood[name] = average_precision(near, far);
    report.aupr_in[name] = average_precision(-far, -near);
    add_ratio(name, near, far, report);
    if (area < 0.5 - kSds * auroc_sd(near.size(0), far.size(0))) report.inverted.push_back(name);
    const int64_t n = near.size(0), m = far.size(0);
    const double share = static_cast<double>(m) / static_cast<double>(n + m);
    report.n = n;
    report.n_foreign = m;
    report.foreign_share = share;
    report.chance = {0.5, 0.95, 0.05, share, 1 - share};
  }
  report.aupr = report.aupr_ood;
  const auto residual = report.auroc.find("residual"), control = report.auroc.find("gradient_norm");
  if (residual != report.auroc.end() && control != report.auroc.end())
    report.residual_gain = residual->second - control->second;
  return report;
}

std::map<std::string, SeparationHistogram> score_histograms(const Scores& inside, const Scores& outside) {
  constexpr int64_t kBins = 30;
  constexpr double kCut = 0.01;
  std::map<std::string, SeparationHistogram> all;
  for (const auto& [name, near] : inside) {
    const at::Tensor& far = outside.at(name);
    const at::Tensor sorted = std::get<0>(at::cat({near.to(at::kDouble), far.to(at::kDouble)}).sort());
    const auto last = static_cast<double>(sorted.numel() - 1);
    const auto at_share = [&](double share) { return sorted[std::llround(share * last)].item<double>(); };
    const double low = at_share(kCut), high = at_share(1 - kCut) > low ? at_share(1 - kCut) : low + 1;
    all[name] = {low, high, counts_in(near, low, high, kBins), counts_in(far, low, high, kBins)};
  }
  return all;
}

}  // namespace slimbayes
