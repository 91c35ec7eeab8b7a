#include "slimbayes/answers/conformal.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/conformal_rank.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// Returns predictions with mean 0 and these sds [n].
Regression of_sd(const at::Tensor& sd) { return {at::zeros_like(sd), sd.square(), at::zeros_like(sd)}; }

TEST(Conformal, ScoresAreSortedAndScaledBySd) {
  Regression p{row({1, 2, 3}), row({1, 3, 0.09}), row({3, 6, 0.16})};
  EXPECT_TRUE(at::allclose(conformal_scores(p, row({-1, 2.3, 5})), row({0.1, 1, 4}), 1e-14, 0));
}

TEST(Conformal, FactorIsTheRankOfTheDefinition) {
  at::Tensor scores = at::arange(1, 100, at::kDouble);  // m = 99 scores; the k-th smallest is k
  EXPECT_EQ(conformal_factor(scores, 0.9), 90);
  EXPECT_EQ(conformal_factor(scores, 0.95), 95);
  EXPECT_EQ(conformal_factor(scores, 0.99), 99);
  EXPECT_EQ(conformal_factor(scores, 0.951), 96);
  EXPECT_EQ(conformal_factor(scores, 1e-9), 1);
  EXPECT_THROW(conformal_factor(scores, 0.991), std::invalid_argument);
  // The levels .01 to .99: rounding of (m + 1) level must not add or lose a rank.
  for (int hundredths = 1; hundredths < 100; ++hundredths)
    EXPECT_EQ(conformal_factor(scores, hundredths / 100.0), hundredths) << hundredths;
}

TEST(Conformal, ALevelNeedsItsRows) {
  const std::pair<double, int64_t> known[] = {{0.5, 1},   {0.8, 4},   {0.9, 9},
                                              {0.95, 19}, {0.99, 99}, {0.999, 999}};
  for (auto [level, rows] : known) {
    EXPECT_EQ(conformal_rows(level), rows) << level;
    EXPECT_NO_THROW(check_conformal_rows(rows, level, rows));
    EXPECT_THROW(check_conformal_rows(rows - 1, level, rows - 1), std::invalid_argument);
  }
  try {
    conformal_factor(row({1, 2, 3}), 0.95);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("at least 19 calibration rows"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("received 3"), std::string::npos) << error.what();
  }
  for (double level : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_THROW(conformal_rows(level), std::invalid_argument);
    EXPECT_THROW(conformal_factor(row({1, 2}), level), std::invalid_argument);
  }
}

TEST(Conformal, TiesCountAsRanks) {
  at::Tensor scores = row({1, 1, 1, 1, 2, 2, 2, 3, 3});  // m = 9
  EXPECT_EQ(conformal_factor(scores, 0.4), 1);
  EXPECT_EQ(conformal_factor(scores, 0.41), 2);
  EXPECT_EQ(conformal_factor(scores, 0.8), 3);
  EXPECT_EQ(conformal_factor(scores, 0.9), 3);
  at::Tensor equal = at::full({19}, 0.7, at::kDouble);
  for (double level : {0.1, 0.5, 0.95}) EXPECT_EQ(conformal_factor(equal, level), 0.7);
}

TEST(Conformal, ARowOfAGroupWeighsItsShare) {
  // A row of a group of n weighs 1 / n, so the weights up to each score are 1, 1.5, 1.83, 2.33, 2.67 and 3.
  // The total is 4: three groups and the group of the new row.
  ConformalScores scores(row({1, 2, 3, 4, 5, 6}), at::tensor({7, 1, 5, 1, 5, 5}, at::kLong));
  EXPECT_EQ(scores.groups, 3);
  const std::pair<double, double> known[] = {{0.1, 1},  {0.25, 1}, {0.3, 2}, {0.4, 3},
                                             {0.55, 4}, {0.6, 5},  {0.75, 6}};
  for (auto [level, factor] : known) EXPECT_EQ(conformal_factor(scores, level), factor) << level;
  try {
    conformal_factor(scores, 0.8);
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("at least 4 groups of identical inputs"), std::string::npos) << text;
    EXPECT_NE(text.find("received 3 groups (6 rows)"), std::string::npos) << text;
  }
  // Groups of one row each give the same factor as rows without groups.
  at::Tensor single = at::arange(1, 100, at::kDouble);
  ConformalScores numbered(single, at::arange(99, 0, -1));
  for (double level : {0.01, 0.5, 0.9, 0.99})
    EXPECT_EQ(conformal_factor(numbered, level), conformal_factor(single, level)) << level;
  // Repeating every row within its group changes nothing.
  ConformalScores twice(single.repeat_interleave(2), at::arange(99).repeat_interleave(2));
  for (int hundredths = 1; hundredths < 100; ++hundredths)
    EXPECT_EQ(conformal_factor(twice, hundredths / 100.0), hundredths) << hundredths;
  EXPECT_THROW(ConformalScores(row({1, 2}), at::arange(3)), std::invalid_argument);
}

/// The factor of scores whose rows have these weights.
double weighted_factor(const at::Tensor& scores, const std::vector<int64_t>& group, const at::Tensor& weight,
                       ConformalWeight kind, double level) {
  return conformal_factor(sorted_scores(scores, group, conformal_weights(weight, group, kind)), level);
}

TEST(Conformal, WeightsOfImportanceMoveTheQuantile) {
  // Of four single rows with the weights 1, 1, 2 and 4, divided by their mean 2: the weights up to each score
  // are 0.5, 1, 2 and 4, and the new row has the weight 1. The total is 5.
  const std::vector<int64_t> singly = {0, 1, 2, 3};
  const at::Tensor scores = row({1, 2, 3, 4}), weight = row({1, 1, 2, 4});
  const auto factor = [&](double level) {
    return weighted_factor(scores, singly, weight, ConformalWeight::importance, level);
  };
  const std::pair<double, double> known[] = {{0.05, 1}, {0.1, 1}, {0.11, 2}, {0.2, 2},
                                             {0.21, 3}, {0.4, 3}, {0.41, 4}, {0.8, 4}};
  for (auto [level, expected] : known) EXPECT_EQ(factor(level), expected) << level;
  EXPECT_THROW(factor(0.81), std::invalid_argument);
  // A group weighs the mean of its rows' weights, and its rows share that by their weights: of the groups
  // {1, 3} and {5} the rows weigh 1 / 2, 3 / 2 and 5, divided by 7 / 2.
  const at::Tensor grouped = conformal_weights(row({1, 3, 5}), {4, 4, 2}, ConformalWeight::importance);
  EXPECT_TRUE(at::allclose(grouped, row({0.5, 1.5, 5}) / 3.5, 1e-14, 0));
  EXPECT_TRUE(at::allclose(conformal_weights(row({10, 30, 50}), {4, 4, 2}, ConformalWeight::importance),
                           grouped, 1e-14, 0));
}

TEST(Conformal, WeightsOfCountsCountAGroupOnce) {
  const at::Tensor shares = conformal_weights(row({1, 3, 5}), {4, 4, 2}, ConformalWeight::counts);
  EXPECT_TRUE(at::allclose(shares, row({0.25, 0.75, 1}), 1e-14, 0));
  EXPECT_TRUE(at::equal(conformal_weights(row({1, 3, 5}), {4, 4, 2}, ConformalWeight::counts_of_rows),
                        row({1, 3, 5})));
  EXPECT_THROW(conformal_weights(row({1, 3}), {4, 4, 2}, ConformalWeight::counts), std::invalid_argument);
  EXPECT_THROW(conformal_weights(row({1, 3, 0}), {4, 4, 2}, ConformalWeight::counts), std::invalid_argument);
}

TEST(Conformal, EqualWeightsGiveTheFactorWithout) {
  const at::Tensor scores = Stream(5).normal({60}).abs();
  std::vector<int64_t> singly, grouped;
  for (int64_t i = 0; i < 60; ++i) {
    singly.push_back(i);
    grouped.push_back(i * i % 23);
  }
  const at::Tensor weight = at::full({60}, 0.3, at::kDouble);
  for (int hundredths = 1; hundredths < 92; ++hundredths) {
    const double level = hundredths / 100.0, one = conformal_factor(sorted_scores(scores, singly), level),
                 shared = conformal_factor(sorted_scores(scores, grouped), level);
    EXPECT_EQ(weighted_factor(scores, singly, weight, ConformalWeight::importance, level), one) << level;
    EXPECT_EQ(weighted_factor(scores, singly, weight, ConformalWeight::counts, level), one) << level;
    EXPECT_EQ(weighted_factor(scores, grouped, weight, ConformalWeight::importance, level), shared) << level;
    EXPECT_EQ(weighted_factor(scores, grouped, weight, ConformalWeight::counts, level), shared) << level;
  }
}

TEST(Conformal, CountsAreRowsRepeated) {
  const at::Tensor scores = Stream(6).normal({30}).abs(), count = 1 + at::arange(30) % 4;
  const at::Tensor index = at::repeat_interleave(count);
  std::vector<int64_t> group, singly, groups_repeated, rows_repeated;
  for (int64_t i = 0; i < 30; ++i) {
    group.push_back(i % 12);
    singly.push_back(i);
  }
  for (int64_t i = 0; i < index.numel(); ++i) {
    groups_repeated.push_back(group[static_cast<size_t>(index[i].item<int64_t>())]);
    rows_repeated.push_back(i);
  }
  const at::Tensor repeats = scores.index_select(0, index), weight = count.to(at::kDouble);
  for (int hundredths = 1; hundredths < 92; ++hundredths) {
    const double level = hundredths / 100.0;
    EXPECT_EQ(weighted_factor(scores, group, weight, ConformalWeight::counts, level),
              conformal_factor(sorted_scores(repeats, groups_repeated), level))
        << level;
    EXPECT_EQ(weighted_factor(scores, singly, weight, ConformalWeight::counts_of_rows, level),
              conformal_factor(sorted_scores(repeats, rows_repeated), level))
        << level;
  }
}

TEST(Conformal, UnequalWeightsMakeTheCoverageLessCertain) {
  const at::Tensor scores = at::arange(1, 101, at::kDouble);
  std::vector<int64_t> singly;
  for (int64_t i = 0; i < 100; ++i) singly.push_back(i);
  const auto range = [&](const at::Tensor& weight) {
    return coverage_range(
        sorted_scores(scores, singly, conformal_weights(weight, singly, ConformalWeight::importance)), 0.9);
  };
  EXPECT_EQ(range(at::full({100}, 2.0, at::kDouble)), coverage_range(100, 0.9));
  // Kish: (50 * 1 + 50 * 9)^2 / (50 * 1 + 50 * 81) = 60.98
  const at::Tensor uneven = at::cat({at::ones({50}, at::kDouble), at::full({50}, 9.0, at::kDouble)});
  EXPECT_EQ(range(uneven), coverage_range(61, 0.9));
  at::Tensor one = at::full({100}, 1e-6, at::kDouble);
  one[0] = 1;
  EXPECT_EQ(range(one), coverage_range(9, 0.9));  // the least number of rows for this level
}

TEST(Conformal, GroupsFollowTheirScores) {
  at::Tensor sd = at::ones({5}, at::kDouble);
  ConformalScores scores = conformal_scores(of_sd(sd), row({3, -1, 2, 5, -4}), {0, 1, 0, 2, 1});
  EXPECT_TRUE(at::equal(scores.value, row({1, 2, 3, 4, 5})));
  EXPECT_TRUE(at::equal(scores.group, at::tensor({1, 0, 0, 1, 2}, at::kLong)));
  EXPECT_EQ(scores.groups, 3);
  EXPECT_THROW(conformal_scores(of_sd(sd), row({3, -1, 2, 5, -4}), {0, 1}), std::invalid_argument);
}

// Twenty inputs with eight rows each, whose targets hardly differ. A row of a further input is covered with
// at least the level asked for. If each of the 160 rows counted as one, levels above 20 / 21 would get the
// largest score as their factor, which covers only 20 / 21.
TEST(Conformal, CoversARowOfAFurtherGroup) {
  constexpr int64_t kGroups = 20, kEach = 8, kTrials = 2000;
  const at::Tensor group = at::arange(kGroups).repeat_interleave(kEach);
  for (double level : {0.5, 0.9, 0.95}) {
    int64_t inside = 0;
    for (uint64_t trial = 0; trial < kTrials; ++trial) {
      const Stream stream = Stream(trial).split("grouped");
      const at::Tensor effect = stream.split("effect").normal({kGroups + 1});
      const at::Tensor noise = 0.01 * stream.split("noise").normal({kGroups * kEach + 1});
      const auto [scores, order] =
          (effect.narrow(0, 0, kGroups).index_select(0, group) + noise.narrow(0, 0, kGroups * kEach))
              .abs()
              .sort();
      const double factor = conformal_factor({scores, group.index_select(0, order)}, level);
      inside += std::abs((effect[kGroups] + noise[kGroups * kEach]).item<double>()) <= factor;
    }
    const double share = static_cast<double>(inside) / kTrials;
    const double sd = std::sqrt(level * (1 - level) / kTrials);
    EXPECT_GT(share, level - 4 * sd) << level;
    EXPECT_LT(share, level + 1.0 / (kGroups + 1) + 4 * sd) << level;
  }
}

TEST(Conformal, WidensWithTheLevel) {
  at::Tensor scores = conformal_scores(of_sd(at::ones({500}, at::kDouble)), Stream(3).normal({500}));
  double before = 0;
  for (int i = 1; i <= 99; ++i) {
    double factor = conformal_factor(scores, i / 100.0);
    EXPECT_GE(factor, before);
    before = factor;
  }
}

TEST(Conformal, UnitsAndAWrongSdDoNotMatter) {
  at::Tensor sd = Stream(1).uniform({200}) + 0.1, y = sd * Stream(2).normal({200});
  Regression p = of_sd(sd), metres = rescaled(p, -40, 1000), shy = of_sd(0.1 * sd);
  at::Tensor scores = conformal_scores(p, y);
  EXPECT_TRUE(at::allclose(conformal_scores(metres, 1000 * y - 40), scores, 1e-12, 0));
  Interval here = conformal_interval(p, scores, 0.9);
  Interval there = conformal_interval(shy, conformal_scores(shy, y), 0.9);
  EXPECT_TRUE(at::allclose(here.lower, there.lower, 1e-12, 0));
  EXPECT_TRUE(at::allclose(here.upper, there.upper, 1e-12, 0));
}

// The row whose score is the factor lies on the edge of its interval. There mean -+ factor sd may round to
// either side, above all if the mean is large compared with the sd. An answer's last bits also depend on its
// batch and on the processor. The row must lie inside all the same.
TEST(Conformal, TheRowsThatTheGuaranteeCountsLieInside) {
  for (double shift : {0.0, 3.0, 1e6}) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Stream stream = Stream(seed).split("edge");
      at::Tensor sd = stream.split("sd").uniform({60}) + 0.1;
      at::Tensor mean = shift + stream.split("mean").normal({60});
      Regression p{mean, sd.square(), at::zeros_like(sd)};
      at::Tensor y = mean + sd * stream.split("y").normal({60});
      at::Tensor scores = conformal_scores(p, y);
      Regression again{mean * (1 + 2e-16), sd.square() * (1 - 4e-16), at::zeros_like(sd)};
      for (const Regression& answer : {p, again}) {
        EXPECT_EQ(std::lround(60 * coverage(conformal_interval(answer, scores, 0.9), y)), 55)
            << shift << " " << seed;
      }
    }
  }
}

TEST(Conformal, OrderOfTheRowsDoesNotMatter) {
  at::Tensor sd = Stream(1).uniform({50}) + 0.1, y = Stream(2).normal({50}),
             order = Stream(3).permutation(50);
  EXPECT_TRUE(at::equal(conformal_scores(of_sd(sd), y),
                        conformal_scores(of_sd(sd.index_select(0, order)), y.index_select(0, order))));
}

TEST(Conformal, BadRowsAreRefused) {
  at::Tensor one = at::ones({3}, at::kDouble), y = row({1, 2, 3});
  EXPECT_THROW(conformal_scores(of_sd(one), row({1, 2})), std::invalid_argument);
  EXPECT_THROW(conformal_scores(of_sd(one), row({1, 2, std::nan("")})), std::invalid_argument);
  EXPECT_THROW(conformal_scores(of_sd(at::ones({0}, at::kDouble)), at::ones({0}, at::kDouble)),
               std::invalid_argument);
  try {
    conformal_scores(of_sd(row({1, 0, 1})), y);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("1 of 3 rows with an sd of 0"), std::string::npos)
        << error.what();
  }
}

/// Returns P(J <= j) for the beta-binomial count J: N rows, each covered with probability ~ Beta(a, b).
double beta_binomial_cdf(int64_t j, int64_t N, double a, double b) {
  double sum = 0;
  for (int64_t i = 0; i <= j; ++i) {
    auto k = static_cast<double>(i), n = static_cast<double>(N);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + std::lgamma(k + a) +
                    std::lgamma(n - k + b) - std::lgamma(n + a + b) + std::lgamma(a + b) - std::lgamma(a) -
                    std::lgamma(b));
  }
  return sum;
}

TEST(Conformal, WeightsMustSumToANumberThatADoubleCounts) {
  const at::Tensor scores = at::arange(1, 31).to(at::kDouble);
  std::vector<int64_t> singly(30);
  std::iota(singly.begin(), singly.end(), 0);
  for (const double count : {1e15, 1e19, 1e300, 1.7e308}) {
    const at::Tensor weight = at::full({30}, count, at::kDouble);
    try {
      weighted_factor(scores, singly, weight, ConformalWeight::counts_of_rows, 0.9);
      FAIL() << count;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("sum to at most 2^53"), std::string::npos) << error.what();
    }
  }
  const at::Tensor most = at::full({30}, 1e14, at::kDouble);
  EXPECT_EQ(weighted_factor(scores, singly, most, ConformalWeight::counts_of_rows, 0.85), 26);
}

// The rows are heteroscedastic and heavy-tailed; the model's sd is three times too small and has a wrong
// shape. The number of covered test rows must follow the exact law of split conformal all the same: a
// binomial whose probability is Beta(k, m + 1 - k).
TEST(Conformal, CoverageFollowsItsExactLaw) {
  constexpr int64_t kRows = 199, kTest = 2000;
  double sum = 0;
  int fits = 0;
  for (double level : {0.5, 0.9, 0.95}) {
    const auto k = static_cast<double>(std::lround((kRows + 1) * level));
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Stream stream = Stream(seed).split("conformal");
      at::Tensor x = stream.split("x").uniform({kRows + kTest});
      at::Tensor noise = stream.split("noise").normal({kRows + kTest}).pow(3);
      at::Tensor y = (0.2 + x) * noise;
      Regression p = of_sd((0.2 + 0.5 * x) / 3);
      auto part = [&](int64_t low, int64_t size) {
        return Regression{p.mean.narrow(0, low, size), p.aleatoric_var.narrow(0, low, size),
                          p.epistemic_var.narrow(0, low, size)};
      };
      at::Tensor scores = conformal_scores(part(0, kRows), y.narrow(0, 0, kRows));
      Interval bounds = conformal_interval(part(kRows, kTest), scores, level);
      at::Tensor held_out = y.narrow(0, kRows, kTest);
      double share = coverage(bounds, held_out);
      const auto inside = static_cast<int64_t>(std::lround(share * kTest));
      const double below = beta_binomial_cdf(inside, kTest, k, kRows + 1 - k);
      EXPECT_GT(below, 1e-5) << level << " " << seed;
      EXPECT_LT(below, 1 - 1e-5) << level << " " << seed;
      sum += share - level;
      ++fits;
    }
  }
  EXPECT_NEAR(sum / fits, 0, 0.01);
}

TEST(Conformal, TheLevelItselfIsKnownToABetaDistribution) {
  // Uniform scores: the coverage of a factor is the factor. 4,000 draws of m calibration rows; the share
  // below and above the range has an sd of 0.0034.
  for (const int64_t m : {19, 60, 400}) {
    const double level = 0.9;
    const auto [low, high] = coverage_range(m, level);
    int64_t below = 0, above = 0;
    const Stream stream(7);
    for (uint64_t i = 0; i < 4000; ++i) {
      const ConformalScores scores(std::get<0>(stream.split(i).uniform({m}).sort()));
      const double coverage = conformal_factor(scores, level);
      below += coverage < low;
      above += coverage > high;
    }
    EXPECT_NEAR(static_cast<double>(below) / 4000, 0.05, 0.017) << m;
    EXPECT_NEAR(static_cast<double>(above) / 4000, 0.05, 0.017) << m;
  }
  EXPECT_THROW(coverage_range(8, 0.9), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
