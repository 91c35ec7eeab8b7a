#pragma once

#include <functional>

namespace slimbayes {

/// A range of positive numbers, searched on a logarithmic scale. low = high means that the value is given, so
/// that there is nothing to search.
struct LogRange {
  double low, high;

  bool given() const { return low == high; }
  int points() const;         // of the grid: 25, or 1 if the value is given
  double point(int i) const;  // point i of the grid, ascending
};

/// A number in the range and its score; a lower score is better.
struct LeastScore {
  double at, score;
};

/// Returns the number in the range with the least score: the best point of the grid, refined by Brent's
/// method between that point's two neighbours until the logarithm is known to 16 bits. A score that is not
/// finite counts as worse than every other. If no score is finite, the returned score is not finite either.
LeastScore least_score(const LogRange& range, const std::function<double(double)>& score);

}  // namespace slimbayes
