#include "slimbayes/answers/conditional/quantile_bins.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace slimbayes {
namespace {

using Doubles = std::vector<double>;

TEST(quantile_bins, HaveEqualNumbersOfDifferentNumbers) {
  Doubles numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back((i * 37) % 100);  // 0 to 99 in another order
  const QuantileBins bins = quantile_bins(numbers, 5);
  EXPECT_EQ(bins.ends, (Doubles{0, 20, 40, 60, 80, 99}));
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(bins.of[i], static_cast<int64_t>(numbers[i]) / 20);
  }
}

TEST(quantile_bins, KeepEqualNumbersTogether) {
  const Doubles numbers = {0, 0, 0, 0, 0, 0, 1, 2, 3, 4};
  const QuantileBins bins = quantile_bins(numbers, 5);
  EXPECT_EQ(bins.ends, (Doubles{0, 1, 3, 4}));
  EXPECT_EQ(bins.of, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 1, 1, 2, 2}));
}

TEST(quantile_bins, OfNumbersWithinTheErrorAreOneBin) {
  const Doubles numbers = {1, 1.25, 1.5};
  EXPECT_EQ(quantile_bins(numbers, 3, 0.5).count(), 1);
  EXPECT_EQ(quantile_bins(numbers, 3, 0.25).count(), 3);
  EXPECT_EQ(quantile_bins(Doubles{7, 7}, 3).count(), 1);
  EXPECT_EQ(quantile_bins(Doubles{}, 3).count(), 0);
  EXPECT_THROW(quantile_bins(numbers, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
