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
               nlohmann::json& report) {
  const double below = inside.mean(at::kDouble).item<double>(),
               ratio = outside.mean(at::kDouble).item<double>() / below;
  if ((inside < 0).any().item<bool>() || (outside < 0).any().item<bool>())
    report["ratio_absent"][name] = "the score takes negative values";
  else if (below == 0)
    report["ratio_absent"][name] = "the mean of the score over the data is 0";
  else if (!std::isfinite(ratio))
    report["ratio_absent"][name] = "the ratio is too large for a number";
  else
    report["ratio"][name] = ratio;
}

std::vector<int64_t> counts_in(const at::Tensor& scores, double low, double high, int64_t bins) {
  const at::Tensor place =
      ((scores.to(at::kDouble) - low) / (high - low) * static_cast<double>(bins)).floor();
  const at::Tensor counts =
      at::bincount(place.clamp(0, static_cast<double>(bins - 1)).to(at::kLong), {}, bins);
  return {counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + bins};
}

}  // namespace

nlohmann::json separation_report(const Scores& inside, const Scores& outside) {
  constexpr double kSds = 3;
  const nlohmann::json none = nlohmann::json::object();
  nlohmann::json report = {
      {"auroc", none},   {"fpr95", none}, {"tpr5", none},         {"aupr_ood", none},
      {"aupr_in", none}, {"ratio", none}, {"ratio_absent", none}, {"inverted", nlohmann::json::array()}};
  for (const auto& [name, near] : inside) {
    const at::Tensor& far = outside.at(name);
    const double area = auroc(near, far);
    report["auroc"][name] = area;
    report["fpr95"][name] = false_positive_rate(near, far, 0.95);
    report["tpr5"][name] = true_positive_rate(near, far, 0.05);
    report["aupr_ood"][name] = average_precision(near, far);
    report["aupr_in"][name] = average_precision(-far, -near);
    add_ratio(name, near, far, report);
    if (area < 0.5 - kSds * auroc_sd(near.size(0), far.size(0))) report["inverted"].push_back(name);
    const int64_t n = near.size(0), m = far.size(0);
    const double share = static_cast<double>(m) / static_cast<double>(n + m);
    report.update({{"n", n}, {"n_foreign", m}, {"foreign_share", share}});
    report["chance"] = {
        {"auroc", 0.5}, {"fpr95", 0.95}, {"tpr5", 0.05}, {"aupr_ood", share}, {"aupr_in", 1 - share}};
  }
  report["aupr"] = report["aupr_ood"];
  const nlohmann::json& area = report["auroc"];
  if (area.contains("residual") && area.contains("gradient_norm"))
    report["residual_gain"] = area["residual"].get<double>() - area["gradient_norm"].get<double>();
  return report;
}

nlohmann::json score_histograms(const Scores& inside, const Scores& outside) {
  constexpr int64_t kBins = 30;
  constexpr double kCut = 0.01;
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, near] : inside) {
    const at::Tensor& far = outside.at(name);
    const at::Tensor sorted = std::get<0>(at::cat({near.to(at::kDouble), far.to(at::kDouble)}).sort());
    const auto last = static_cast<double>(sorted.numel() - 1);
    const auto at_share = [&](double share) { return sorted[std::llround(share * last)].item<double>(); };
    const double low = at_share(kCut), high = at_share(1 - kCut) > low ? at_share(1 - kCut) : low + 1;
    all[name] = {{"low", low},
                 {"high", high},
                 {"inside", counts_in(near, low, high, kBins)},
                 {"outside", counts_in(far, low, high, kBins)}};
  }
  return all;
}

}  // namespace slimbayes
