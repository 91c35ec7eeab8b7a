#include "slimbayes/data/rows/contrast.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slimbayes {

namespace {

constexpr size_t kChoices = 1999, kMostRows = 50;

/// Returns `k` different numbers below n.
std::vector<int64_t> chosen_rows(int64_t n, size_t k, const Stream& stream) {
  std::vector<int64_t> rows;
  for (uint64_t i = 0; rows.size() < k; ++i) {
    const auto row = static_cast<int64_t>(stream.bits(i) % static_cast<uint64_t>(n));
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
  }
  return rows;
}

double absolute_sum(const std::vector<double>& feature, const std::vector<int64_t>& rows) {
  double sum = 0;
  for (const int64_t row : rows) sum += feature[static_cast<size_t>(row)];
  return std::abs(sum);
}

}  // namespace

std::vector<double> unit_ranks(const std::vector<double>& values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i])) order.push_back(i);
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size(), 0);
  const double middle = 0.5 * (static_cast<double>(order.size()) - 1);
  double square = 0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = 0.5 * static_cast<double>(begin + end - 1) - middle;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    square += static_cast<double>(end - begin) * rank * rank;
  }
  if (square == 0) return ranks;
  const double sd = std::sqrt(square / static_cast<double>(values.size()));
  for (double& rank : ranks) rank /= sd;
  return ranks;
}

double contrast_p(int64_t n, const std::vector<int64_t>& given, size_t count,
                  const std::function<std::vector<double>(size_t)>& feature, const Stream& stream) {
  if (given.size() < 2 || 2 * std::ssize(given) > n) return 1;
  std::vector<int64_t> rows = given;
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  std::vector<std::vector<int64_t>> choices;
  for (size_t c = 0; c < kChoices; ++c)
    choices.push_back(chosen_rows(n, rows.size(), stream.split(static_cast<uint64_t>(c))));
  double own = 0;
  std::vector<double> others(kChoices, 0);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<double> x = feature(i);
    own = std::max(own, absolute_sum(x, rows));
    for (size_t c = 0; c < kChoices; ++c) others[c] = std::max(others[c], absolute_sum(x, choices[c]));
  }
  const double slack = 1e-9 * own;  // equal sums may be added in another order
  const auto as_far = std::ranges::count_if(others, [&](double other) { return other >= own - slack; });
  return static_cast<double>(1 + as_far) / static_cast<double>(1 + kChoices);
}

}  // namespace slimbayes
