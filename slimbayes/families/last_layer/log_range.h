#pragma once

#include <functional>

namespace slimbayes {

/// A range of positive numbers that is searched on a logarithmic scale; with low = high there is no choice.
struct LogRange {
  double low, high;

  bool given() const { return low == high; }
  int points() const;         // of the grid: 25, or 1 without a choice
  double point(int i) const;  // ascending
};

/// A number and its score.
struct Scored {
  double at, score;
};

/// Returns the number of the range with the least score: the best point of the grid, refined by Brent's
/// method between its neighbours to 2^-16 of its logarithm. A score that is not finite is worse than every
/// other; if none is finite, neither is the result's.
Scored least(const LogRange& range, const std::function<double(double)>& score);

}  // namespace slimbayes
