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

/// Returns rows of cells as text in aligned columns: the first column is aligned left, the others right.
/// Control characters in cells are replaced (shown()). The best cells are bold on a terminal and marked "*"
/// elsewhere. If a terminal is too narrow, the columns that do not fit are printed below, with the first
/// column repeated.
std::string text_table(std::vector<std::vector<Cell>> rows);

/// Returns x as text with four significant digits; from 10,000 up to 1e9 as a whole number.
std::string rounded(double x);

/// Returns a number with four decimals.
std::string decimals(double number);

/// A mean and its spread over several runs.
struct Spread {
  double mean = NAN, sd = NAN;  // sd: sample standard deviation, NaN for one run
};

/// Formats the numbers of one column so that they are easy to compare: all get the same number of decimals.
/// It is enough for four significant digits of the smallest number, but at most two more than the largest
/// needs. If the largest is 1e9 or more, or below 1e-4, all are written with an exponent instead.
class NumberFormat {
 public:
  explicit NumberFormat(std::span<const double> numbers);
  std::string operator()(double x) const;

 private:
  bool exponent_ = false;
  int decimals_ = 0;
};

/// Returns "mean ± sd" for each element, formatted by `format`. The means and the sds are padded so that they
/// align in a column. A NaN sd, as of a single run, is left out.
std::vector<std::string> aligned(std::span<const Spread> spreads, const NumberFormat& format);

}  // namespace slimbayes::cli
