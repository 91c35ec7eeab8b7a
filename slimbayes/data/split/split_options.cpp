#include "slimbayes/data/split/split_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns ceil(fraction * n). A small margin allows for rounding: 0.07 * 100 is a little above 7 as a
/// double, but must give 7 and not 8.
int64_t part_size(double fraction, int64_t n) {
  return static_cast<int64_t>(std::ceil(fraction * static_cast<double>(n) - 1e-9));
}

}  // namespace

void check_split(const SplitOptions& options, int64_t n) {
  auto fraction = [](double value, std::string_view name) {
    if (!(value >= 0 && value < 1))
      refuse("split_rows", fmt::format("{} from 0 to below 1", name), fmt::format("{}", value));
  };
  fraction(options.valid_fraction, "a validation fraction");
  fraction(options.test_fraction, "a test fraction");
  fraction(options.calibration_fraction, "a calibration fraction");
  if (!(options.valid_fraction + options.test_fraction + options.calibration_fraction < 1))
    refuse("split_rows", "fractions that leave rows for training",
           fmt::format(
               "{} + {}{}", options.valid_fraction, options.test_fraction,
               options.calibration_fraction > 0 ? fmt::format(" + {}", options.calibration_fraction) : ""),
           "lower one of them");
  check(options.kind == "auto" || options.kind == "grouped" || options.kind == "random", "split_rows",
        "a split 'auto', 'grouped' or 'random'", options.kind);
  check(n > 0, "split_rows", "rows to split", "none");
  if (!(options.folds == 0 || (options.folds > 1 && options.folds <= n && options.fold >= 0 &&
                               options.fold < options.folds && options.test_fraction > 0)))
    refuse("split_rows", fmt::format("from 2 to {} folds for the test part", n),
           fmt::format("{}", options.folds), "give fewer folds, or more rows");
}

PartSizes part_sizes(const SplitOptions& options, int64_t n) {
  return {part_size(options.test_fraction, n), part_size(options.valid_fraction, n),
          part_size(options.calibration_fraction, n)};
}

Allowance allowance(const SplitOptions& options, int64_t n) {
  const auto [test, valid, calibration] = part_sizes(options, n);
  int64_t smallest = test > 0 && valid > 0 ? std::min(test, valid) : std::max(test, valid);
  if (smallest == 0) smallest = calibration;
  if (smallest == 0) return {n, n};
  const int64_t train = std::max<int64_t>(1, n - test - valid);
  const int64_t excess = std::min(2 * smallest, (train + 5) / 6);
  return {excess, std::max(1 + excess, smallest + excess / 2)};
}

}  // namespace slimbayes
