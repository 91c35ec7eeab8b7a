#include "slimbayes/answers/calibration/adaptive_conformal.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

using Sequence = std::vector<double>;

/// |z| of m standard normals, times scale(t) plus shift(t).
Sequence half_normals(
    int64_t m, const std::function<double(int64_t)>& scale,
    const std::function<double(int64_t)>& shift = [](int64_t) { return 0.0; }) {
  const at::Tensor z = Stream(7).normal({m}).to(at::kDouble).abs();
  Sequence scores;
  for (int64_t t = 0; t < m; ++t) scores.push_back(z[t].item<double>() * scale(t) + shift(t));
  return scores;
}

Sequence steady(int64_t m) {
  return half_normals(m, [](int64_t) { return 1.0; });
}

/// Share of the scores from `from` on that lie above their factor.
double misses(const Sequence& scores, const std::vector<double>& factors, int64_t from) {
  int64_t missed = 0;
  const int64_t m = std::ssize(scores);
  for (int64_t t = from; t < m; ++t)
    missed += scores[static_cast<size_t>(t)] > factors[static_cast<size_t>(t)] ? 1 : 0;
  return static_cast<double>(missed) / static_cast<double>(m - from);
}

std::vector<Sequence> hard_sequences() {
  constexpr int64_t kRows = 600;
  std::vector<Sequence> all = {
      half_normals(kRows, [](int64_t t) { return t < kRows / 2 ? 1.0 : 2.0; }),
      half_normals(kRows, [](int64_t t) { return 1 + 9.0 * static_cast<double>(t) / kRows; }),
      half_normals(
          kRows, [](int64_t) { return 1.0; }, [](int64_t t) { return t > 60 ? 5.0 : 0.0; }),
      half_normals(kRows, [](int64_t t) { return std::pow(1.02, static_cast<double>(t)); }),
      half_normals(kRows, [](int64_t t) { return std::pow(0.98, static_cast<double>(t)); }),
      Sequence(kRows, 0.0),
      Sequence(kRows, kUncoverable)};
  // An adversary who knows the factor and exceeds it a little: only a saturated integrator stops it.
  Sequence above, alternating;
  for (int64_t t = 0; t < 300; ++t) {
    above.push_back(std::clamp(adaptive_factors(above, 0.9).back() + 0.5, 0.0, kUncoverable));
    alternating.push_back(t % 2 == 0 ? 0.0 : 100.0);
  }
  all.push_back(above);
  all.push_back(alternating);
  return all;
}

TEST(adaptive_factors, MissTheirShareUpToTheBoundWhateverTheScores) {
  const std::vector<Sequence> all = hard_sequences();
  for (size_t i = 0; i < all.size(); ++i) {
    for (const double level : {0.5, 0.8, 0.9, 0.99}) {
      const std::vector<double> factors = adaptive_factors(all[i], level);
      for (int64_t m = kAdaptiveStart + 1; m <= std::ssize(all[i]); m += 7) {
        const Sequence part(all[i].begin(), all[i].begin() + m);
        EXPECT_LE(std::abs(misses(part, factors, kAdaptiveStart) - (1 - level)), adaptive_bound(m) + 1e-9)
            << "sequence " << i << " level " << level << " m " << m;
      }
    }
  }
}

TEST(adaptive_factors, FollowScoresThatDoubleWhereAFixedFactorDoesNot) {
  const Sequence scores = half_normals(2000, [](int64_t t) { return t < 1000 ? 1.0 : 2.0; });
  const std::vector<double> factors = adaptive_factors(scores, 0.9);
  EXPECT_NEAR(misses(scores, factors, 1000), 0.1, 0.03);
  EXPECT_GT(misses(scores, std::vector<double>(2000, 1.645), 1000), 0.3);
  EXPECT_NEAR(misses(scores, factors, kAdaptiveStart), 0.1, 0.02);
}

TEST(adaptive_factors, DependOnEarlierScoresAlone) {
  const Sequence scores = steady(200);
  const std::vector<double> whole = adaptive_factors(scores, 0.8);
  ASSERT_EQ(whole.size(), 201);
  for (const size_t m : {0, 1, 19, 20, 21, 150}) {
    EXPECT_EQ(adaptive_factors(std::span(scores).first(m), 0.8).back(), whole[m]) << m;
  }
}

TEST(adaptive_factors, AreThoseOfThePapersRecursion) {
  const Sequence scores = steady(60);
  const std::vector<double> q = adaptive_factors(scores, 0.9);
  Sequence start(scores.begin(), scores.begin() + kAdaptiveStart);
  std::ranges::sort(start);
  EXPECT_EQ(q[kAdaptiveStart], start[18]);  // the 19th of 20: ceil(21 0.9)
  double p = q[kAdaptiveStart], sum = 0;
  for (size_t t = kAdaptiveStart; t < 60; ++t) {
    const double error = (scores[t] > q[t] ? 1 : 0) - 0.1;
    const double largest = *std::max_element(scores.begin(), scores.begin() + static_cast<int64_t>(t) + 1);
    const double n = static_cast<double>(t) + 2;  // t + 1 scores, and 1
    p += 0.1 * largest * error;
    sum += error;
    EXPECT_NEAR(q[t + 1], p + 0.3 * largest * std::tan(sum * std::log(n) / (n * 2 / M_PI)), 1e-12) << t;
  }
}

TEST(advanced, InTwoPartsIsAtOnceAlsoWhereScoresAreDropped) {
  const Sequence scores = steady(2500);
  for (const size_t cut : {1, 100, 2400}) {
    const AdaptiveScores once = advanced({}, scores);
    const AdaptiveScores twice =
        advanced(advanced({}, std::span(scores).first(cut)), std::span(scores).subspan(cut));
    EXPECT_EQ(once.scores, twice.scores);
    EXPECT_EQ(twice.seen, 2500);
    EXPECT_EQ(std::ssize(twice.scores), AdaptiveScores::kMost);
    for (const double level : {0.5, 0.95}) {
      EXPECT_EQ(adaptive_factor(once, level), adaptive_factor(twice, level));
    }
  }
  EXPECT_EQ(advanced({}, Sequence{1e9}).scores.at(0), kUncoverable);
  EXPECT_THROW(advanced({}, Sequence{-1}), std::invalid_argument);
  EXPECT_THROW(advanced({}, Sequence{NAN}), std::invalid_argument);
}

TEST(online_coverage, IsTheShareInsideAsTheStateAdvances) {
  const Sequence scores = half_normals(300, [](int64_t t) { return t < 150 ? 1.0 : 3.0; });
  const std::span<const double> before = std::span(scores).first(150), after = std::span(scores).subspan(150);
  const AdaptiveScores state = advanced({}, before);
  EXPECT_NEAR(online_coverage(state, after, 0.9), 1 - misses(scores, adaptive_factors(scores, 0.9), 150),
              1e-12);
  EXPECT_THROW(online_coverage(state, {}, 0.9), std::invalid_argument);
  EXPECT_THROW(online_coverage(state, after, 1), std::invalid_argument);
}

TEST(adaptive_interval, ReachesTheFactorToEitherSide) {
  const AdaptiveScores state = advanced({}, steady(200));
  const at::Tensor mean = at::arange(3, at::kDouble), var = at::full({3}, 2.0, at::kDouble);
  const Regression p{mean, var, var};
  const Interval range = adaptive_interval(p, state, 0.9);
  const double half = 2 * adaptive_factor(state, 0.9);
  EXPECT_TRUE(at::allclose(range.lower, mean - half, 1e-8, 1e-8));
  EXPECT_TRUE(at::allclose(range.upper, mean + half, 1e-8, 1e-8));
  // A higher level is wider here, and a state that has seen large errors too.
  EXPECT_GT(adaptive_factor(state, 0.99), adaptive_factor(state, 0.5));
  EXPECT_GT(adaptive_factor(advanced(state, Sequence(10, 5.0)), 0.9), adaptive_factor(state, 0.9));
}

TEST(plain_adaptive_levels, MissTheirShareUpToTheBoundOfThePaper) {
  constexpr double kAlpha = 0.1, kStep = 0.05;
  for (const Sequence& scores : hard_sequences()) {
    const std::vector<double> levels = plain_adaptive_levels(scores, 1 - kAlpha, kStep);
    const auto m = static_cast<double>(scores.size());
    // The sum of the steps is the last level less the first.
    const double missed = kAlpha - (levels.back() - levels.front()) / (kStep * m);
    EXPECT_LE(std::abs(missed - kAlpha), (1 - kAlpha + kStep) / (kStep * m) + 1e-9);
  }
}

}  // namespace
}  // namespace slimbayes
