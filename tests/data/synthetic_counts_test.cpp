#include "slimbayes/data/synthetic_counts.h"

#include <cmath>
#include <numbers>

#include "slimbayes/data/synthetic.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

TEST(PoissonDraw, HasMeanAndVarianceOfItsRate) {
  for (double rate : {0.3, 7.0}) {
    double sum = 0, squares = 0;
    constexpr int n = 20'000;
    for (int i = 0; i < n; ++i) {
      auto y = static_cast<double>(poisson_draw(rate, Stream(1), static_cast<uint64_t>(i)));
      sum += y, squares += y * y;
    }
    double mean = sum / n;
    EXPECT_NEAR(mean, rate, 4 * std::sqrt(rate / n));
    EXPECT_NEAR(squares / n - mean * mean, rate, 0.06 * rate);
  }
  EXPECT_EQ(poisson_draw(0, Stream(1), 0), 0);
  EXPECT_THROW(poisson_draw(-1, Stream(1), 0), std::invalid_argument);
}

TEST(generate, counts_have_the_rate_that_they_state) {
  Table t = generate("counts", 20'000, Stream(0));
  const auto &y = t.find("y")->values, &mean = t.find("true_mean")->values;
  double z = 0;
  for (size_t i = 0; i < y.size(); ++i) z += std::pow(y[i] - mean[i], 2) / mean[i] / 20'000;
  EXPECT_NEAR(z, 1, 0.04);
  EXPECT_NE(generate("counts", 50, Stream(1)).find("y")->values,
            generate("counts", 50, Stream(2)).find("y")->values);
}

TEST(generate, cox_events_follow_their_intensity) {
  Table t = generate("cox", 20'000, Stream(0));
  EXPECT_NEAR(static_cast<double>(t.rows), 20'000, 4 * std::sqrt(20'000));
  // E[sum over events of g(x)] = integral of intensity times g. For g = sin(2 pi x1) cos(pi x2) the integral
  // is rows / 2 * 0.9 / 2.
  double moment = 0;
  for (size_t i = 0; i < t.columns[0].values.size(); ++i) {
    double x1 = t.find("x1")->values[i], x2 = t.find("x2")->values[i];
    double g = std::sin(2 * std::numbers::pi * x1) * std::cos(std::numbers::pi * x2);
    ASSERT_TRUE(x1 >= 0 && x1 <= 1 && x2 >= 0 && x2 <= 2);
    ASSERT_NEAR(t.find("true_intensity")->values[i], 10'000 * (1 + 0.9 * g), 1e-8);
    moment += g;
  }
  EXPECT_NEAR(moment, 4500, 4 * std::sqrt(20'000 * 0.25));
  EXPECT_GE(generate("cox", 1, Stream(3)).rows, 1);
}

}  // namespace
}  // namespace slimbayes
