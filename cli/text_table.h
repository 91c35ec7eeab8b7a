#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace slimbayes::cli {

struct Cell {
  std::string text;
  bool best = false;
};

/// Rows of cells, each as shown(), as aligned text: the first column to the left, the others to the right.
/// The best cells are bold on a terminal and marked `*` elsewhere. On a terminal that is too narrow the
/// columns go on below, beside the first one again.
std::string text_table(std::vector<std::vector<Cell>> rows);

/// Four significant digits, whole from 10,000 on.
std::string rounded(double x);

struct Spread {
  double mean = NAN, sd = NAN;  // sd: of the sample, NaN for one run
};

/// How the numbers of one column are written, so that they compare at a glance: all with the same decimals,
/// four significant digits of the smallest (at most two decimals more than the largest asks for), or all with
/// an exponent.
class NumberFormat {
 public:
  explicit NumberFormat(std::span<const double> numbers);
  std::string operator()(double x) const;

 private:
  bool exponent_ = false;
  int decimals_ = 0;
};

/// `mean ± sd`, the means below each other and the sds.
std::vector<std::string> aligned(std::span<const Spread> spreads, const NumberFormat& format);

}  // namespace slimbayes::cli
