// The PAC-Bayes bound against its formula by hand, and kl_inverse against known values and a bisection.
#include "slimbayes/theory/pac_bayes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace slimbayes {
namespace {

TEST(BernoulliKl, HasKnownValues) {
  EXPECT_DOUBLE_EQ(bernoulli_kl(0.5, 0.25), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3));
  EXPECT_EQ(bernoulli_kl(0.3, 0.3), 0);
  EXPECT_DOUBLE_EQ(bernoulli_kl(0, 0.75), std::log(4.0));
  EXPECT_EQ(bernoulli_kl(1, 1), 0);
  EXPECT_TRUE(std::isinf(bernoulli_kl(0.5, 1)));
}

TEST(KlInverse, HasKnownValues) {
  EXPECT_NEAR(kl_inverse(0, 0.5), 1 - std::exp(-0.5), 1e-15);  // kl(0 || p) = -ln(1 - p)
  EXPECT_NEAR(kl_inverse(0.5, bernoulli_kl(0.5, 0.9)), 0.9, 1e-14);
  EXPECT_NEAR(kl_inverse(0.2, 0), 0.2, 1e-8);  // kl is flat there: rounding of 1e-17 moves p by 1e-9
  EXPECT_EQ(kl_inverse(1, 0.1), 1);
  EXPECT_EQ(kl_inverse(0.1, std::numeric_limits<double>::infinity()), 1);
}

TEST(KlInverse, IsTheUpperEndOfABisection) {
  for (const double q : {0.0, 0.01, 0.3, 0.8}) {
    for (const double budget : {1e-4, 0.1, 2.0}) {
      double low = q, high = 1;
      for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (bernoulli_kl(q, middle) > budget ? high : low) = middle;
      }
      const double found = kl_inverse(q, budget);
      EXPECT_NEAR(found, high, 1e-14);
      EXPECT_GE(bernoulli_kl(q, found), budget * (1 - 1e-9));  // rounded up
    }
  }
}

TEST(KlInverse, RefusesWhatIsNoMean) {
  EXPECT_THROW(kl_inverse(1.1, 0.1), std::invalid_argument);
  EXPECT_THROW(kl_inverse(0.1, -0.1), std::invalid_argument);
  EXPECT_THROW(kl_inverse(std::nan(""), 0.1), std::invalid_argument);
}

TEST(PacBayesBound, FollowsItsFormula) {
  const PacBayesBound bound = pac_bayes_bound({0, 50, 30, 1000, 4, 0.1});
  const double sampled = 1 - std::exp(-std::log(2 * 4 / 0.1) / 50);
  const double complexity = (30 + std::log(4 * 4 * std::sqrt(1000.0) / 0.1)) / 1000;
  EXPECT_NEAR(bound.sampled, sampled, 1e-14);
  EXPECT_NEAR(bound.complexity, complexity, 1e-14);
  EXPECT_NEAR(bernoulli_kl(bound.sampled, bound.seeger), complexity, 1e-12);
  EXPECT_NEAR(bound.mcallester, sampled + std::sqrt(complexity / 2), 1e-14);
}

TEST(PacBayesBound, PaysForDrawsPriorsAndKl) {
  const PacBayesInput base{0.1, 100, 20, 500, 1, 0.05};
  const double least = pac_bayes_bound(base).seeger;
  PacBayesInput few = base, tried = base, far = base;
  few.draws = 10;
  tried.tried = 10;
  far.kl = 40;
  for (const PacBayesInput& worse : {few, tried, far}) EXPECT_GT(pac_bayes_bound(worse).seeger, least);
  EXPECT_NEAR(pac_bayes_bound(tried).complexity - pac_bayes_bound(base).complexity, std::log(10.0) / 500,
              1e-15);
}

TEST(PacBayesBound, TheKlFormIsNeverAboveTheRoot) {
  for (const double risk : {0.0, 0.05, 0.5})
    for (const double kl : {0.0, 10.0, 1000.0, 1e6}) {
      const PacBayesBound bound = pac_bayes_bound({risk, 100, kl, 2000, 1, 0.05});
      EXPECT_LE(bound.seeger, bound.mcallester + 1e-15);
      EXPECT_GE(bound.seeger, bound.sampled);
      EXPECT_LE(bound.seeger, 1);
    }
  EXPECT_EQ(pac_bayes_bound({0.1, 100, 1e9, 100, 1, 0.05}).seeger, 1);
}

TEST(PacBayesBound, ItsConstantIsAboveMaurersSum) {
  // E exp(n kl(mean || p)) is at most the sum over k of C(n, k) (k / n)^k (1 - k / n)^(n - k).
  for (int n = 1; n <= 300; ++n) {
    double sum = 0;
    for (int k = 0; k <= n; ++k) {
      const double share = static_cast<double>(k) / n;
      sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                      (k > 0 ? k * std::log(share) : 0) + (k < n ? (n - k) * std::log(1 - share) : 0));
    }
    EXPECT_LE(sum, 2 * std::sqrt(static_cast<double>(n)) * (1 + 1e-9)) << n;
  }
}

/// Returns the probability that `sampled` for `tried` priors is below the risk p of the posterior, if the
/// loss of each of `draws` drawn networks is 1 with probability p, else 0.
double miss(double p, int draws, int64_t tried, double delta) {
  double sum = 0;
  for (int k = 0; k <= draws; ++k) {
    if (pac_bayes_bound({static_cast<double>(k) / draws, draws, 0, 100, tried, delta}).sampled >= p) continue;
    sum += std::exp(std::lgamma(draws + 1) - std::lgamma(k + 1) - std::lgamma(draws - k + 1) +
                    k * std::log(p) + (draws - k) * std::log1p(-p));
  }
  return sum;
}

TEST(PacBayesBound, TheDrawsOfEveryTriedPriorAreCovered) {
  // 50 posteriors, each with 20 draws of its own. Half of delta is for the event that one is missed.
  constexpr int kTried = 50;
  constexpr double kDelta = 0.2;
  double most_if_one = 0;
  for (int i = 1; i < 100; ++i) {
    const double p = i / 100.0 + 0.003;  // not a quotient of draws
    EXPECT_LE(1 - std::pow(1 - miss(p, 20, kTried, kDelta), kTried), kDelta / 2) << p;
    most_if_one = std::max(most_if_one, 1 - std::pow(1 - miss(p, 20, 1, kDelta), kTried));
  }
  EXPECT_GT(most_if_one, kDelta);  // the bound for one prior does not hold for 50 at once
}

TEST(HeldOutBound, NeedsNoPrior) {
  const PacBayesInput input{0, 50, 1e6, 1000, 4, 0.1};
  const double sampled = 1 - std::exp(-std::log(2 * 4 / 0.1) / 50);
  const double found = held_out_bound(input);
  EXPECT_NEAR(bernoulli_kl(sampled, found), std::log(2 * 4 / 0.1) / 1000, 1e-12);
}

TEST(PacBayesBound, RefusesWhatIsNoProbability) {
  EXPECT_THROW(pac_bayes_bound({0.1, 100, 1, 100, 1, 0}), std::invalid_argument);
  EXPECT_THROW(pac_bayes_bound({0.1, 100, -1, 100, 1, 0.05}), std::invalid_argument);
  EXPECT_THROW(pac_bayes_bound({0.1, 0, 1, 100, 1, 0.05}), std::invalid_argument);
  EXPECT_THROW(pac_bayes_bound({2, 10, 1, 100, 1, 0.05}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
