#include "slimbayes/core/log_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slimbayes {
namespace {

TEST(LogRange, FindsTheLeastScoreBetweenItsPoints) {
  const LogRange range{1e-2, 10};
  for (const double where : {0.0123, 0.3, 7.7}) {
    const auto score = [&](double x) { return std::pow(std::log(x / where), 2); };
    EXPECT_NEAR(least_score(range, score).at / where, 1, 1e-4) << where;
  }
  EXPECT_DOUBLE_EQ(least_score(range, [](double x) { return x; }).at, 1e-2);
  EXPECT_DOUBLE_EQ(least_score(range, [](double x) { return -x; }).at, 10);
}

TEST(LogRange, AScoreThatIsNotFiniteIsNeverTheLeast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_GE(least_score({1e-2, 10}, [&](double x) { return x < 0.5 ? nan : x; }).at, 0.5);
  EXPECT_FALSE(std::isfinite(least_score({1e-2, 10}, [&](double) { return nan; }).score));
}

TEST(LogRange, WithoutAChoiceThereIsOneScore) {
  int calls = 0;
  const LeastScore only = least_score({3, 3}, [&](double x) { return ++calls, x; });
  EXPECT_EQ(only.at, 3);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace slimbayes
