#include "slimbayes/answers/count_distribution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(CountDistribution, MatchesAnIndependentIntegral) {
  // Reference values: mpmath 1.3.0, 30 digits, adaptive quadrature. The tolerances are the documented error
  // bounds.
  LogNormalRate rate{row({0.5, 2, 2, 6, 1, 9}), row({0.3, 4, 4, 0.01, 9, 1})};
  at::Tensor y = row({2, 0, 11, 420, 0, 8103});
  double log_p[] = {-1.5457904814605977, -1.9974617758243596, -4.036926183957113,
                    -4.8258011101683586, -1.1505489887628845, -9.9189898838018519};
  double cdf[] = {0.70732345381568578, 0.13567923084775267, 0.5867185424817524,
                  0.64546644826776211, 0.31646298705738364, 0.50002048413117294};
  at::Tensor got = poisson_lognormal_log_prob(rate, y), below = poisson_lognormal_cdf(rate, y);
  for (int64_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i].item<double>(), log_p[i], 1e-10) << i;
  for (int64_t i = 0; i < 6; ++i) EXPECT_NEAR(below[i].item<double>(), cdf[i], 1e-10) << i;
}

TEST(CountDistribution, RowsFarFromTheDataHaveTheirNllOrAnError) {
  LogNormalRate far{row({210, 250, 250, 700}), row({1, 1, 1, 0.25})};
  double log_p[] = {-21153.997627627897, -30137.568172733631, -30122.850073173971,
                    -960704.44479336031};  // mpmath
  at::Tensor got = poisson_lognormal_log_prob(far, row({0, 0, 3, 0}));
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i].item<double>(), log_p[i], 1e-12 * -log_p[i]) << i;
  EXPECT_THROW(poisson_lognormal_log_prob({row({800}), row({0})}, row({0})), NumericalError);
}

TEST(CountDistribution, IsPoissonWhereTheRateIsKnown) {
  at::Tensor y = at::arange(0, 40, at::kDouble), m = at::full_like(y, std::log(7.3)),
             zero = at::zeros_like(y);
  at::Tensor expected = y * std::log(7.3) - 7.3 - at::lgamma(y + 1);
  EXPECT_TRUE(at::allclose(poisson_lognormal_log_prob({m, zero}, y), expected, 1e-10, 1e-10));
  EXPECT_TRUE(at::allclose(poisson_lognormal_cdf({m, zero}, y), expected.exp().cumsum(0), 1e-10, 1e-12));
}

TEST(CountDistribution, TheCdfIsTheSumOfTheProbabilitiesWhicheverWayItIsTaken) {
  // The grid crosses s sqrt(k + 1) = 0.35, where the implementation changes to the other form of the
  // integral.
  for (double s : {0.02, 0.05, 0.1, 0.3, 1.0, 2.5}) {
    at::Tensor y = at::arange(0, 400, at::kDouble), m = at::full_like(y, 2.5), v = at::full_like(y, s * s);
    at::Tensor p = poisson_lognormal_log_prob({m, v}, y).exp(), cdf = poisson_lognormal_cdf({m, v}, y);
    EXPECT_LT((cdf - p.cumsum(0)).abs().max().item<double>(), 1e-10) << s;
  }
  EXPECT_EQ(poisson_lognormal_cdf({row({1}), row({1})}, row({-1})).item<double>(), 0);
}

TEST(CountDistribution, AQuantileIsTheFirstWholeNumberThatReachesTheProbability) {
  at::Tensor m = row({-3, 0, 1, 4, 8, 12}), v = row({0.1, 0.5, 2, 0.01, 0.3, 1});
  for (double p : {0.025, 0.5, 0.975}) {
    at::Tensor k = poisson_lognormal_quantile({m, v}, p);
    EXPECT_TRUE((poisson_lognormal_cdf({m, v}, k) >= p).all().item<bool>());
    EXPECT_TRUE((poisson_lognormal_cdf({m, v}, k - 1) < p).all().item<bool>());
    EXPECT_TRUE(at::equal(k, k.floor()));
  }
  // A count of a large rate is nearly log-normal; beyond 1e13 the function returns the log-normal's quantile.
  for (double m0 : {20.0, 40.0}) {
    double got = poisson_lognormal_quantile({row({m0}), row({0.25})}, 0.975).item<double>();
    EXPECT_NEAR(std::log(got), m0 + 0.5 * normal_quantile(0.975), 1e-6);
  }
}

// The cdf is a sum of rounded terms, which may stay below a probability next to 1.
TEST(CountDistribution, AQuantileNextToOneIsFound) {
  const double last = std::nextafter(1.0, 0.0);
  for (double log_var : {0.0, 1e-12, 1e-4, 0.01, 0.3, 2.0, 30.0}) {
    at::Tensor m = at::arange(-40, 24, 2.7, at::kDouble), v = at::full_like(m, log_var);
    at::Tensor k = poisson_lognormal_quantile({m, v}, last), less = poisson_lognormal_quantile({m, v}, 0.999);
    EXPECT_TRUE((k >= less).all().item<bool>()) << log_var;
    EXPECT_TRUE(k.isfinite().all().item<bool>()) << log_var;
  }
}

// A row far from the data may have an infinite rate. The rows beside it keep their answers.
TEST(CountDistribution, ARowThatOverflowsIsInfiniteAlone) {
  const double inf = HUGE_VAL, nan = std::nan("");
  LogNormalRate rate{row({1, 900, nan, 1, 2}), row({0.5, 1, 1, inf, 0.1})},
      good{row({1, 2}), row({0.5, 0.1})};
  at::Tensor k = poisson_lognormal_quantile(rate, 0.975), alone = poisson_lognormal_quantile(good, 0.975);
  EXPECT_EQ(k[0].item<double>(), alone[0].item<double>());
  EXPECT_EQ(k[4].item<double>(), alone[1].item<double>());
  EXPECT_EQ(k[1].item<double>(), inf);
  EXPECT_TRUE(std::isnan(k[2].item<double>()));
  EXPECT_EQ(k[3].item<double>(), inf);
  for (const Interval& i : {interval(Counts{rate}, 0.9), interval(Intensity{rate}, 0.9)}) {
    at::Tensor finite = at::isfinite(i.lower) & at::isfinite(i.upper);
    EXPECT_EQ(finite.sum().item<int64_t>(), 2);
  }
}

// The mean of a log-normal lies s^2 / 2 above its median in the log, the upper end 1.96 s: for s > 3.92 the
// mean is above the interval and rests on a tail that the interval leaves out.
TEST(CountDistribution, TheMeanAboveItsIntervalIsCounted) {
  LogNormalRate rate{row({0, 0, 10, 10, 900}),
                     row({1, 25, 15.3, 15.5, 1})};  // limit: var = 4 * 1.96^2 = 15.37
  at::Tensor above = mean_above_interval(rate, interval(Intensity{rate}, 0.95));
  EXPECT_TRUE(at::equal(above.to(at::kDouble), row({0, 1, 0, 1, 0}))) << above;
}

TEST(CountDistribution, BadInputIsNamed) {
  EXPECT_THROW(poisson_lognormal_log_prob({row({0}), row({1})}, row({1.5})), std::invalid_argument);
  EXPECT_THROW(poisson_lognormal_log_prob({row({0}), row({1})}, row({-1})), std::invalid_argument);
  EXPECT_THROW(poisson_lognormal_log_prob({row({0}), row({-1})}, row({1})), std::invalid_argument);
  EXPECT_THROW(poisson_lognormal_cdf({row({0, 1}), row({1})}, row({1, 1})), std::invalid_argument);
  EXPECT_THROW(poisson_lognormal_quantile({row({0}), row({1})}, 1), std::invalid_argument);
  EXPECT_EQ(poisson_lognormal_quantile({row({}), row({})}, 0.5).numel(), 0);
  try {
    check_counts(row({3, 0, 2.5}), "f");
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("2.5 in row 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace slimbayes
