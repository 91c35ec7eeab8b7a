#include "slimbayes/model/input_groups.h"

#include <ATen/ATen.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

std::vector<int64_t> input_groups(const Dataset& all, bool grouped) {
  const int64_t n = all.size();
  at::Tensor group = at::arange(n);
  if (grouped) group = std::get<1>(at::unique_dim(all.all().inputs.at(0), 0, true, true)).contiguous();
  return {group.const_data_ptr<int64_t>(), group.const_data_ptr<int64_t>() + n};
}

int64_t count_groups(const std::vector<int64_t>& group, const std::vector<int64_t>& rows) {
  std::set<int64_t> seen;
  for (int64_t row : rows) seen.insert(group[static_cast<size_t>(row)]);
  return std::ssize(seen);
}

at::Tensor group_weights(const std::vector<int64_t>& group, const std::vector<int64_t>& rows,
                         const at::Tensor& weight) {
  if (weight.defined()) {
    std::vector<int64_t> own;
    for (int64_t row : rows) own.push_back(group[static_cast<size_t>(row)]);
    return conformal_weights(weight, own, ConformalWeight::counts);
  }
  std::map<int64_t, int64_t> size;
  for (int64_t row : rows) ++size[group[static_cast<size_t>(row)]];
  std::vector<double> weights;
  for (int64_t row : rows)
    weights.push_back(1 / static_cast<double>(size.at(group[static_cast<size_t>(row)])));
  return at::tensor(weights, at::kDouble);
}

at::Tensor sums_by_group(const std::vector<int64_t>& group, const std::vector<int64_t>& rows,
                         const at::Tensor& x) {
  const at::Tensor numbers = x.to(at::kDouble).contiguous();
  std::map<int64_t, double> sum;
  for (size_t i = 0; i < rows.size(); ++i)
    sum[group[static_cast<size_t>(rows[i])]] += numbers.const_data_ptr<double>()[i];
  std::vector<double> sums;
  for (const auto& [number, one] : sum) sums.push_back(one);
  return at::tensor(sums, at::kDouble);
}

Misses misses_of(const Regression& p, const Dataset& rows, double level, bool grouped) {
  const Interval range = interval(p, level);
  const at::Tensor y = targets_of(rows);
  const at::Tensor missed = ((y < range.lower) | (y > range.upper)).to(at::kDouble);
  const std::vector<int64_t> group = input_groups(rows, grouped);
  std::vector<int64_t> every(group.size());
  std::iota(every.begin(), every.end(), 0);
  const at::Tensor each = group_weights(group, every), own = rows.weights();
  if (own.defined() && rows.size() > 0) {
    const at::Tensor weights = each * own;
    const double units = effective_rows(sums_by_group(group, every, weights), 0) + 1e-9;
    return {static_cast<int64_t>(std::floor(weighted_mean(missed, weights) * units)),
            static_cast<int64_t>(std::floor(units))};
  }
  const double sum = (missed * each).sum().item<double>();
  return {static_cast<int64_t>(std::floor(sum + 1e-9)), count_groups(group, every)};
}

}  // namespace slimbayes
