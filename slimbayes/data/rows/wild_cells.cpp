// Finds wrong cells of a column by the jump that they make in its tail.
//
// Problem     One cell of 1e6 among numbers near 50 decides the mean, the sd and the range of its column. But
//             large cells alone are no errors: of a log-normal column with an sd of 4, the largest of 300 is
//             thousands of times the median.
// Method      What tells an error is the gap below it. Let d_1 >= d_2 >= ... be the distances to the median
//             on one side, and let the tail below d_j be that of a Pareto distribution, P(d > t) ~ t^-a. Then
//             log(d_j / d_{j+1}) is exponential with the mean 1 / (j a) (Renyi 1953), and the mean H of
//             log(d_i / d_{j+k+1}) over the k cells below the jump estimates 1 / a (Hill 1975) independently
//             of it, as a gamma variable. So the jump exceeds f H by chance with a probability of at most
//             (1 + f / k)^-k, and is one that this makes rarer than 1e-3. The tail sets its own scale: the
//             limit is some 30 sd of 300 normal cells, 1,000 sd of log-normal ones and 1e5 quartiles of
//             Cauchy ones. The tail of 20 cells is hardly known, so that only far larger jumps count. Tails
//             lighter than Pareto's fall off faster, so that they jump less.
// Order       The search goes from the inside to the outside, so that several wild cells do not hide each
//             other: the cells below the first jump are in order.
// Floor       Ties, as in a column of grades, make H small; it is taken as 1/4 at least.
// Cost        O(n), and a sort of the farthest cells where they jump at all.
#include "slimbayes/data/rows/wild_cells.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace slimbayes {

namespace {

constexpr double kMostShare = 0.02;  // of the cells that are wild on one side
constexpr double kTailShare = 0.2;   // of the cells on one side that the tail is estimated from
constexpr size_t kLeastTail = 10, kFewest = 4;
constexpr double kChance = 1e-3, kLeastMean = 0.25;

/// Returns the k-th largest value from 0. Changes the order of the values.
double ranked(std::vector<double>& values, size_t k) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(k), std::greater<>());
  return values[k];
}

/// Returns how many of the distances > 0 on one side are wild. `cells` counts those on both sides.
size_t wild_on_side(std::vector<double> d, size_t cells, double least_jump) {
  const size_t most = std::max<size_t>(1, static_cast<size_t>(kMostShare * static_cast<double>(cells)));
  if (d.size() < kFewest + 2) return 0;
  if (d.size() > most && !(std::ranges::max(d) > least_jump * ranked(d, most))) return 0;
  std::ranges::sort(d, std::greater<>());
  const auto share = static_cast<size_t>(kTailShare * static_cast<double>(d.size()));
  const size_t tail = std::max({share, std::min(kLeastTail, d.size() / 2), kFewest});
  const size_t last = std::min(most, d.size() - kFewest - 1), used = std::min(d.size(), last + tail + 1);
  std::vector<double> logs(used), sums(used + 1, 0.0);  // sums[i] of the first i logarithms
  for (size_t i = 0; i < used; ++i) {
    logs[i] = std::log(d[i]);
    sums[i + 1] = sums[i] + logs[i];
  }
  for (size_t j = last; j >= 1; --j) {
    const size_t k = std::min(tail, d.size() - j - 1);
    const double mean = (sums[j + k] - sums[j]) / static_cast<double>(k) - logs[j + k];
    const double factor = static_cast<double>(k) * (std::pow(kChance, -1 / static_cast<double>(k)) - 1);
    const double jump = logs[j - 1] - logs[j];
    if (jump > std::max(factor * std::max(mean, kLeastMean), std::log(least_jump))) return j;
  }
  return 0;
}

}  // namespace

std::vector<int64_t> wild_cells(const std::vector<double>& values, double least_jump) {
  std::vector<double> cells;
  std::ranges::copy_if(values, std::back_inserter(cells), [](double x) { return !std::isnan(x); });
  if (cells.empty()) return {};
  const double middle = ranked(cells, cells.size() / 2);
  std::vector<int64_t> wild;
  for (const double sign : {1.0, -1.0}) {
    const auto distance = [&](double x) { return sign * (x / 2 - middle / 2); };  // halves do not overflow
    std::vector<double> side;
    for (const double x : cells)
      if (distance(x) > 0) side.push_back(distance(x));
    const size_t count = wild_on_side(side, cells.size(), least_jump);
    if (count == 0) continue;
    const double least = ranked(side, count - 1);
    for (size_t i = 0; i < values.size(); ++i)
      if (distance(values[i]) >= least) wild.push_back(static_cast<int64_t>(i));
  }
  std::ranges::sort(wild);
  return wild;
}

}  // namespace slimbayes
