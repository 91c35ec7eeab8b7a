#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace slimbayes::cli {

/// A cell of a text table; `best` marks the best value of its column.
struct Cell {
  std::string text;
  bool best = false;
};

/// Returns rows of cells as aligned text: the first column aligned left, the others right. Each cell passes
/// through shown(). The best cells are bold on a terminal and marked `*` elsewhere. If a terminal is too
/// narrow, the columns that do not fit are printed below, with the first column repeated.
std::string text_table(std::vector<std::vector<Cell>> rows);

/// Returns x with four significant digits, or as a whole number from 10,000 up to 1e9.
std::string rounded(double x);

/// A mean and its spread over several runs.
struct Spread {
  double mean = NAN, sd = NAN;  // sd: sample standard deviation, NaN for one run
};

/// Formats the numbers of one column for easy comparison: all with the same number of decimals (enough for
/// four significant digits of the smallest, but at most two more than the largest needs), or all with an
/// exponent.
class NumberFormat {
 public:
  explicit NumberFormat(std::span<const double> numbers);
  std::string operator()(double x) const;

 private:
  bool exponent_ = false;
  int decimals_ = 0;
};

/// Returns `mean ± sd` for each spread. Means and sds are aligned.
std::vector<std::string> aligned(std::span<const Spread> spreads, const NumberFormat& format);

}  // namespace slimbayes::cli
