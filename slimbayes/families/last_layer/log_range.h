#pragma once

#include <functional>

namespace slimbayes {

/// A range of positive numbers, searched on a logarithmic scale. low = high means that the value is given.
struct LogRange {
  double low, high;

  bool given() const { return low == high; }
  int points() const;         // of the grid: 25, or 1 if the value is given
  double point(int i) const;  // ascending
};

/// A number and its score.
struct Scored {
  double at, score;
};

/// Returns the number in the range with the least score: the best point of the grid, refined by Brent's
/// method between its two neighbours to 2^-16 of the logarithm. A score that is not finite counts as worse
/// than every other. If no score is finite, the returned score is not finite either.
Scored least(const LogRange& range, const std::function<double(double)>& score);

}  // namespace slimbayes
