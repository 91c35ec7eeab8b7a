#include "slimbayes/explain/association.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace slimbayes {
namespace {

/// The pairs of cells that are both present.
using Pairs = std::vector<std::pair<double, double>>;

Pairs present_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  Pairs pairs;
  for (size_t i = 0; i < a.size(); ++i)
    if (!std::isnan(a[i]) && !std::isnan(b[i])) pairs.emplace_back(a[i], b[i]);
  return pairs;
}

/// Returns |Pearson's correlation|; of ranks it is Spearman's.
double correlation(const Pairs& pairs) {
  const auto n = static_cast<double>(pairs.size());
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (const auto& [a, b] : pairs) mean_a += a / n, mean_b += b / n;
  for (const auto& [a, b] : pairs) {
    aa += (a - mean_a) * (a - mean_a);
    bb += (b - mean_b) * (b - mean_b);
    ab += (a - mean_a) * (b - mean_b);
  }
  return aa > 0 && bb > 0 ? std::min(1.0, std::abs(ab) / std::sqrt(aa * bb)) : 0;
}

/// Returns the root of epsilon squared, 1 - (SS within / (n - k)) / (SS / (n - 1)), of `second` between the
/// levels of `first`.
double correlation_ratio(const Pairs& pairs) {
  const auto n = static_cast<double>(pairs.size());
  std::map<double, std::pair<double, double>> levels;  // number of rows, sum
  double mean = 0, all = 0, between = 0;
  for (const auto& [level, x] : pairs) {
    mean += x / n;
    levels[level].first += 1;
    levels[level].second += x;
  }
  for (const auto& [level, x] : pairs) all += (x - mean) * (x - mean);
  for (const auto& [level, sums] : levels) {
    const double step = sums.second / sums.first - mean;
    between += sums.first * step * step;
  }
  const auto k = static_cast<double>(levels.size());
  if (k < 2 || all <= 0 || n <= k) return 0;
  return std::sqrt(std::max(0.0, 1 - (all - between) / (n - k) / (all / (n - 1))));
}

/// Returns Cramer's V with Bergsma's correction.
double cramers_v(const Pairs& pairs) {
  const auto n = static_cast<double>(pairs.size());
  std::map<double, double> rows, columns;
  std::map<std::pair<double, double>, double> cells;
  for (const auto& pair : pairs) {
    rows[pair.first] += 1;
    columns[pair.second] += 1;
    cells[pair] += 1;
  }
  double phi = -1;  // chi squared / n = sum of o^2 / (row column) - 1
  for (const auto& [pair, count] : cells) phi += count * count / (rows[pair.first] * columns[pair.second]);
  const auto r = static_cast<double>(rows.size()), c = static_cast<double>(columns.size());
  const double corrected = std::max(0.0, phi - (r - 1) * (c - 1) / (n - 1));
  const double least = std::min(r - (r - 1) * (r - 1) / (n - 1), c - (c - 1) * (c - 1) / (n - 1)) - 1;
  return least > 0 ? std::min(1.0, std::sqrt(corrected / least)) : 0;
}

}  // namespace

RankedColumn ranked(const Column& column) {
  if (column.kind == ColumnKind::categorical) return {true, column.values};
  std::vector<size_t> order;
  for (size_t i = 0; i < column.values.size(); ++i)
    if (!std::isnan(column.values[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return column.values[i]; });
  RankedColumn out{false, std::vector<double>(column.values.size(), kMissing)};
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last + 1 < order.size() && column.values[order[last + 1]] == column.values[order[first]]) ++last;
    for (size_t i = first; i <= last; ++i)
      out.values[order[i]] = (static_cast<double>(first) + static_cast<double>(last)) / 2;
    first = last + 1;
  }
  return out;
}

double association(const RankedColumn& a, const RankedColumn& b) {
  if (b.is_category && !a.is_category) return association(b, a);
  const Pairs pairs = present_pairs(a.values, b.values);
  if (pairs.size() < 3) return 0;
  if (!a.is_category) return correlation(pairs);
  return b.is_category ? cramers_v(pairs) : correlation_ratio(pairs);
}

}  // namespace slimbayes
