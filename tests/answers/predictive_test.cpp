#include "slimbayes/answers/predictive.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(Predictive, IntervalIsCentralAndUsesTheTotalVariance) {
  Regression p{row({1, -2}), row({9, 0}), row({16, 0})};
  EXPECT_TRUE(at::equal(total_var(p), row({25, 0})));
  Interval i = interval(p, 0.95);
  EXPECT_NEAR(i.lower[0].item<double>(), 1 - 5 * 1.9599639845400545, 1e-12);
  EXPECT_NEAR(i.upper[0].item<double>(), 1 + 5 * 1.9599639845400545, 1e-12);
  EXPECT_EQ(i.lower[1].item<double>(), -2);  // a variance of 0 gives a width of 0
  for (double level : {0.0, 1.0, -1.0, 2.0, std::nan("")})
    EXPECT_THROW(interval(p, level), std::invalid_argument);
}

TEST(Predictive, ARowWithoutAnAnswerHasNoMutualInformation) {
  const double nan = std::nan("");
  Classes p{at::tensor({0.5, 0.5, nan, nan}, at::kDouble).reshape({2, 2}), row({0.6, nan}), row({0.4, nan})};
  at::Tensor information = mutual_information(p);
  EXPECT_NEAR(information[0].item<double>(), 0.2, 1e-15);
  EXPECT_TRUE(std::isnan(information[1].item<double>()));
}

TEST(Predictive, RescaledIsAnAffineMap) {
  Regression p = rescaled({row({1, 2}), row({3, 4}), row({5, 6})}, -1, 2);
  EXPECT_TRUE(at::equal(p.mean, row({1, 3})));
  EXPECT_TRUE(at::equal(p.aleatoric_var, row({12, 16})));
  EXPECT_TRUE(at::equal(p.epistemic_var, row({20, 24})));
  for (double scale : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(rescaled(p, 0, scale), std::invalid_argument);
  EXPECT_THROW(rescaled(p, HUGE_VAL, 1), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
