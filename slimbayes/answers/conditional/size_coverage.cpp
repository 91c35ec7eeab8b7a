#include "slimbayes/answers/conditional/size_coverage.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "slimbayes/answers/conditional/quantile_bins.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr int64_t kSizeBins = 5, kLeastSized = 50;
constexpr double kSameWidth = 1e-9;  // of the largest width: what is closer is one width

SizeBin size_bin(const RowScores& rows, double level) {
  const double n = rows.weight.defined() ? effective_rows(rows.weight) : static_cast<double>(rows.rows());
  SizeBin out{.rows = rows.rows(),
              .width = weighted_mean(rows.size, rows.weight),
              .coverage = weighted_mean(rows.covered, rows.weight)};
  out.gap = (out.coverage - level) / std::sqrt(level * (1 - level) / n);
  return out;
}

std::string says_of_sizes(const SizeCoverage& all, size_t worst) {
  if (all.bins.size() == 1) return "The intervals have one width: all rows are one bin.";
  const SizeBin& bin = all.bins[worst];
  return fmt::format(
      "The coverage lies farthest from the level in bin {} of {} by width: {:.1f} %, {:.1f} sds {}.",
      worst + 1, all.bins.size(), 100 * bin.coverage, std::abs(bin.gap), bin.gap < 0 ? "below" : "above");
}

}  // namespace

std::optional<SizeCoverage> coverage_by_size(const RowScores& scores, double level) {
  if (!(level > 0 && level < 1)) refuse("coverage_by_size", "0 < level < 1", fmt::format("{}", level));
  if (scores.rows() < kLeastSized || !scores.size.defined() || scores.right.defined()) return std::nullopt;
  const at::Tensor size = scores.size.to(at::kDouble).contiguous();
  const std::span<const double> widths(size.const_data_ptr<double>(), static_cast<size_t>(size.numel()));
  const double largest = size.max().item<double>();
  const double error = scores.size_error + (std::isfinite(largest) ? kSameWidth * largest : 0);
  const QuantileBins bins = quantile_bins(widths, kSizeBins, error);
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(bins.count()));
  for (size_t i = 0; i < bins.of.size(); ++i)
    rows[static_cast<size_t>(bins.of[i])].push_back(static_cast<int64_t>(i));
  SizeCoverage out;
  size_t worst = 0;
  for (const std::vector<int64_t>& of : rows) {
    if (of.empty()) continue;
    out.bins.push_back(size_bin(take(scores, at::tensor(of, at::kLong)), level));
    if (std::abs(out.bins.back().gap) > std::abs(out.bins[worst].gap)) worst = out.bins.size() - 1;
  }
  out.largest_gap = std::abs(out.bins[worst].gap);
  out.says = says_of_sizes(out, worst);
  return out;
}

}  // namespace slimbayes
