#include "slimbayes/density/count_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace slimbayes {
namespace {

struct NoiseCase {
  double mean, var, dispersion, y, log_p, cdf;
};

TEST(CountNoise, MatchesAnIndependentIntegral) {
  // mpmath 1.3.0, 25 digits, Gauss-Legendre between quarters of an sd. The tolerances are well below the
  // documented bounds of 1e-8.
  const std::vector<NoiseCase> cases = {{0.5, 0.3, 0.5, 2, -1.8157611233674454, 0.72614876215642272},
                                        {2, 4, 0.1, 0, -1.944338517904126, 0.14308183811581055},
                                        {2, 4, 3, 11, -4.5653702076447912, 0.74162784548330753},
                                        {1, 9, 1, 0, -0.9499700527170681, 0.38675260547077607},
                                        {0, 1, 100, 0, -0.046164698609774061, 0.95488468105961328},
                                        {0, 1, 100, 7, -6.6785321232957491, 0.97886729855602071},
                                        {-2, 0.5, 20, 1, -3.4093062226978866, 0.96770737752858612},
                                        {3, 0.0001, 0.01, 25, -3.1016976197667928, 0.8633698571341036},
                                        {3, 0, 0.7, 12, -3.4880593868183495, 0.41543572095175152},
                                        {1, 0.2, 1e-9, 3, -1.7307113254765873, 0.65733046646871096},
                                        {0, 25, 2, 5, -4.3351397138887148, 0.70408653424876995},
                                        {4, 16, 5, 40, -6.384160141792478, 0.68441233485715757}};
  for (const NoiseCase& c : cases) {
    const LogRate rate{c.mean, c.var};
    EXPECT_NEAR(count_log_prob(rate, {c.dispersion}, c.y), c.log_p, 1e-11) << c.y;
    EXPECT_NEAR(count_cdf(rate, {c.dispersion}, c.y), c.cdf, 1e-11) << c.y;
  }
  // Large counts and a rate far from the data, log P alone.
  EXPECT_NEAR(count_log_prob({6, 0.01}, {0.2}, 420), -6.2059599775956791, 1e-10);
  EXPECT_NEAR(count_log_prob({9, 1}, {0.05}, 8103), -9.9442283876875476, 1e-9);
  EXPECT_NEAR(count_log_prob({14, 0.0001}, {0.01}, 1200000), -12.620257286375806, 1e-8);
  EXPECT_NEAR(count_log_prob({250, 1}, {0.5}, 0), -496.61370563888007, 1e-9);
}

TEST(CountNoise, ProbabilitiesSumToOneWithTheMomentsAndTheCdf) {
  for (const CountNoise& noise : {CountNoise{0.4, 0}, CountNoise{0, 0.3}, CountNoise{0.2, 0.25}}) {
    const LogRate rate{1.1, 0.05};
    double total = 0, first = 0, second = 0;
    for (int k = 0; k < 2000; ++k) {
      const double p = std::exp(count_log_prob(rate, noise, k));
      total += p, first += p * k, second += p * k * k;
      if (k < 40) {
        EXPECT_NEAR(count_cdf(rate, noise, k), total, 1e-10) << k;
      }
    }
    const double m = rate.rate_mean(), square = m * m * std::exp(rate.var), rest = 1 - noise.zero_share;
    EXPECT_NEAR(total, 1, 1e-9);
    EXPECT_NEAR(first, rest * m, 1e-7);
    // The law of total variance: Var(E[y | rate]) and E[Var(y | rate)].
    const double expected =
        rest * rest * (square - m * m) + rest * (m + (noise.dispersion + noise.zero_share) * square);
    EXPECT_NEAR(second - first * first, expected, 1e-5);
  }
}

// With the point of change between the two forms of the cdf in between.
TEST(CountNoise, TheCdfIsTheSumOfTheProbabilitiesForEveryWidth) {
  for (const double a : {0.01, 1.0, 30.0})
    for (const double s : {0.0, 0.02, 0.1, 0.4, 1.0, 3.0}) {
      double total = 0;
      for (int k = 0; k < 60; ++k) {
        total += std::exp(count_log_prob({2, s * s}, {a}, k));
        EXPECT_NEAR(count_cdf({2, s * s}, {a}, k), total, 1e-9) << a << ' ' << s << ' ' << k;
      }
    }
}

TEST(CountNoise, TendsToPoisson) {
  for (const LogRate& rate : {LogRate{1.5, 0.4}, LogRate{2, 1e-4}, LogRate{-1, 3}})
    for (const double k : {0.0, 3.0, 12.0}) {
      EXPECT_NEAR(count_log_prob(rate, {1e-11}, k), count_log_prob(rate, {}, k), 1e-8);
      EXPECT_NEAR(count_cdf(rate, {1e-11}, k), count_cdf(rate, k), 1e-8);
      EXPECT_NEAR(count_log_prob(rate, {0, 1e-12}, k), count_log_prob(rate, {}, k), 1e-8);
      EXPECT_NEAR(count_cdf(rate, {0, 1e-12}, k), count_cdf(rate, k), 1e-8);
      EXPECT_EQ(count_cdf(rate, {}, k), count_cdf(rate, k));
    }
  EXPECT_EQ(count_quantile({1.5, 0.4}, {}, 0.9), count_quantile({1.5, 0.4}, 0.9));
  // Without any uncertainty of the rate: log Poisson(12; e^2).
  EXPECT_NEAR(count_log_prob({2, 0}, {}, 12), 24 - std::exp(2.0) - std::lgamma(13.0), 1e-10);
}

TEST(CountNoise, AQuantileIsTheFirstWholeNumberThatReachesTheProbability) {
  for (const CountNoise& noise :
       {CountNoise{0.8, 0}, CountNoise{5, 0}, CountNoise{0, 0.3}, CountNoise{2, 0.1}})
    for (const LogRate& rate : {LogRate{-3, 0.1}, LogRate{1, 2}, LogRate{8, 0.01}})
      for (const double p : {0.025, 0.52, 0.975}) {
        const double k = count_quantile(rate, noise, p);
        EXPECT_EQ(k, std::floor(k));
        EXPECT_GE(count_cdf(rate, noise, k), p - 1e-12);
        EXPECT_LT(count_cdf(rate, noise, k - 1), p + 1e-12);
      }
  EXPECT_EQ(count_quantile({1, 0.5}, {0.7, 0.3}, 0.2), 0);  // the zeros alone reach it
  EXPECT_TRUE(std::isinf(count_quantile({800, 1}, {1}, 0.5)));
  EXPECT_TRUE(std::isnan(count_quantile({std::nan(""), 1}, {1}, 0.5)));
  EXPECT_GT(count_quantile({1, 1}, {1}, std::nextafter(1.0, 0.0)), count_quantile({1, 1}, {1}, 0.999));
}

TEST(CountNoise, TheRisingFactorIsItsSumOnBothSidesOfStirlingsFormula) {
  for (const double a : {1e-15, 1e-4, 0.0624, 0.0626, 3.0}) {
    double sum = 0;
    for (int j = 0; j < 9; ++j) sum += std::log1p(j * a) - std::log1p(j);
    EXPECT_NEAR(log_rising_factor(9, a), sum, 1e-12) << a;
  }
}

TEST(CountNoise, BadNumbersAreRefused) {
  EXPECT_THROW(count_log_prob({0, 1}, {-1}, 2), std::invalid_argument);
  EXPECT_THROW(count_cdf({0, 1}, {0, 1}, 2), std::invalid_argument);
  EXPECT_THROW(count_quantile({0, 1}, {0, -0.1}, 0.5), std::invalid_argument);
  EXPECT_THROW(count_quantile({0, 1}, {1}, 1), std::invalid_argument);
  EXPECT_THROW(count_log_prob({0, INFINITY}, {1}, 2), std::invalid_argument);
  EXPECT_THROW(count_log_prob({0, 1}, {1}, -1), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
