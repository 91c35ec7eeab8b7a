#include "slimbayes/core/paired_difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

TEST(PairedDifference, ByHand) {
  // Mean 2, variance 1, J = 3: the error is sqrt(1 / 3 + 1 / 9), and t(2) has the quantile 4.302653 at .975.
  const PairedDifference found = paired_difference({1, 2, 3}, 1.0 / 9);
  EXPECT_DOUBLE_EQ(found.mean, 2);
  EXPECT_NEAR(found.standard_error, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.bound, 4.3026527 * 2 / 3, 1e-6);
  EXPECT_FALSE(found.decided());
  EXPECT_EQ(found.splits, 3);
  EXPECT_TRUE(paired_difference({2.9, 3, 3.1}, 0).decided());
}

TEST(PairedDifference, WithoutSharedRowsItRejectsEqualMethodsInFivePercent) {
  constexpr uint64_t kTrials = 4000;
  int rejected = 0;
  for (uint64_t i = 0; i < kTrials; ++i) {
    const Stream stream = Stream(3).split(i);
    std::vector<double> differences;
    for (uint64_t j = 0; j < 5; ++j) differences.push_back(stream.normal(j));
    rejected += paired_difference(differences, 0).decided();
  }
  EXPECT_NEAR(static_cast<double>(rejected) / kTrials, 0.05, 4 * std::sqrt(0.05 * 0.95 / kTrials));
}

TEST(PairedDifference, RefusesWhatHasNoSpread) {
  EXPECT_THROW(paired_difference({1}, 0.1), std::invalid_argument);
  EXPECT_THROW(paired_difference({1, NAN}, 0.1), std::invalid_argument);
  EXPECT_THROW(paired_difference({1, 2}, -1), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
