#include "slimbayes/answers/conditional/group_scores.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/check.h"
#include "slimbayes/density/unit.h"

namespace slimbayes {

std::pair<double, double> wilson_range(double share, double n, double mass) {
  if (!(share >= 0 && share <= 1 && n > 0 && mass > 0 && mass < 1))
    refuse("wilson_range", "0 <= share <= 1, n > 0 and 0 < mass < 1",
           fmt::format("share {}, n {}, mass {}", share, n, mass));
  const double z = normal_quantile((1 + mass) / 2), z2 = z * z / n;
  const double center = (share + z2 / 2) / (1 + z2);
  const double half = z / (1 + z2) * std::sqrt((share * (1 - share) + z2 / 4) / n);
  // At a share of 0 or 1 an end is 0 or 1 exactly, but for rounding.
  return {share == 0 ? 0 : center - half, share == 1 ? 1 : center + half};
}

GroupScores scores_of_group(const RowScores& scores, std::string name) {
  GroupScores out{.name = std::move(name), .rows = scores.rows()};
  const auto mean_of_rows = [&](const at::Tensor& x) { return weighted_mean(x, scores.weight); };
  if (scores.covered.defined()) {
    const double n =
        scores.weight.defined() ? effective_rows(scores.weight) : static_cast<double>(scores.rows());
    out.coverage = std::clamp(mean_of_rows(scores.covered), 0.0, 1.0);  // weights may round it beyond 1
    out.coverage_range = wilson_range(*out.coverage, n);
    (scores.right.defined() ? out.set_size : out.width) = mean_of_rows(scores.size);
  }
  out.nll = mean_of_rows(scores.nll);
  if (scores.squared_error.defined()) out.rmse = std::sqrt(mean_of_rows(scores.squared_error));
  if (scores.right.defined()) out.accuracy = mean_of_rows(scores.right);
  return out;
}

GroupedScores scores_by_group(const RowScores& scores, const RowGrouping& groups, std::string column) {
  if (static_cast<int64_t>(groups.of.size()) != scores.rows())
    refuse("scores_by_group", fmt::format("groups of {} rows", scores.rows()),
           fmt::format("of {}", groups.of.size()));
  std::vector<std::vector<int64_t>> rows(groups.names.size());
  for (size_t i = 0; i < groups.of.size(); ++i) {
    check(groups.of[i] >= 0 && groups.of[i] < static_cast<int64_t>(rows.size()), "scores_by_group",
          "a name for each group", "a group without");
    rows[static_cast<size_t>(groups.of[i])].push_back(static_cast<int64_t>(i));
  }
  GroupedScores out{.column = std::move(column)};
  std::vector<int64_t> few;
  for (size_t g = 0; g < rows.size(); ++g) {
    if (rows[g].empty()) continue;
    if (static_cast<int64_t>(rows[g].size()) < kLeastGroup) {
      few.insert(few.end(), rows[g].begin(), rows[g].end());
      ++out.few_groups;
      continue;
    }
    out.groups.push_back(scores_of_group(take(scores, at::tensor(rows[g], at::kLong)), groups.names[g]));
  }
  if (!few.empty())
    out.few = scores_of_group(take(scores, at::tensor(few, at::kLong)),
                              fmt::format("fewer than {} rows", kLeastGroup));
  return out;
}

}  // namespace slimbayes
