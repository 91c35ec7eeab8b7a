#include "slimbayes/report/coverage_facts.h"

#include <gtest/gtest.h>

#include "slimbayes/density/unit.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

TEST(binomial_band, HoldsAsManyRowsAsChanceGives) {
  const auto [low, high] = binomial_band(0.5, 100);  // scipy 1.17: binom(100, 0.5).ppf([0.025, 0.975])
  EXPECT_DOUBLE_EQ(low, 0.40);
  EXPECT_DOUBLE_EQ(high, 0.60);
  EXPECT_EQ(binomial_band(1, 10), std::pair(1.0, 1.0));
}

TEST(width_word, NeedsMoreThanChance) {
  EXPECT_EQ(width_word(0.85, 200, 0.95), "too narrow");
  EXPECT_EQ(width_word(0.93, 200, 0.95), "as wide as they should be");
  EXPECT_EQ(width_word(1, 2000, 0.95), "too wide");
  EXPECT_EQ(width_word(1, 20, 0.95), "as wide as they should be");
}

TEST(coverage_facts, QuartersAgreeWithAHandComputation) {
  const Table table = toy_table(40);
  const Model model = toy_model(table);
  // Means 0 to 39. The targets of the first quarter lie 3 sds off, those of the others at the mean.
  const at::Tensor mean = at::arange(40, at::kDouble), sd = at::ones({40}, at::kDouble);
  at::Tensor y = mean.clone();
  y.slice(0, 0, 10) += 3;
  const at::Tensor order = Stream(3).permutation(40);
  const ScoredExamples s =
      toy_scored(model, table, mean.index_select(0, order), sd, y.index_select(0, order), 0.9);
  const std::vector<QuarterFact> quarters = coverage_facts(s).quarters.mean;
  ASSERT_EQ(quarters.size(), 4u);
  EXPECT_EQ(quarters[0].part.share, 0.0);
  EXPECT_EQ(quarters[1].part.share, 1.0);
  EXPECT_EQ(quarters[0].part.rows, 10);
  EXPECT_EQ(quarters[0].low, 0.0);
  EXPECT_EQ(quarters[0].high, 9.0);
  EXPECT_EQ(quarters[3].high, 39.0);
  EXPECT_NEAR(quarters[2].part.width.value(), 2 * normal_quantile(0.95), 1e-12);
}

TEST(coverage_facts, TheTransformOfACalibratedGaussianIsFlat) {
  const int64_t n = 4000;
  const Table table = toy_table(n);
  const Model model = toy_model(table);
  const at::Tensor mean = Stream(5).normal({n}), sd = 0.5 + Stream(6).uniform({n}),
                   y = mean + sd * Stream(7).normal({n});
  const CoverageFacts facts = coverage_facts(toy_scored(model, table, mean, sd, y, 0.95));
  double sum = 0;
  for (double share : facts.pit.share) {
    EXPECT_NEAR(share, 0.05, 0.015);  // 4 sds of a binomial share
    sum += share;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_LT(facts.calibration.area, 0.02);
  const CoverageFacts narrow = coverage_facts(toy_scored(model, table, mean, 0.5 * sd, y, 0.95));
  EXPECT_GT(narrow.pit.share[0], 0.1);
  EXPECT_NE(narrow.pit.says.find("too narrow"), std::string::npos);
}

TEST(coverage_facts, SizesAreBinsOfTheWidths) {
  const Table table = toy_table(100);
  const Model model = toy_model(table);
  const at::Tensor mean = at::zeros({100}, at::kDouble), sd = at::arange(1, 101, at::kDouble);
  const CoverageFacts facts =
      coverage_facts(toy_scored(model, table, mean, sd, at::full_like(mean, 30), 0.9));
  ASSERT_TRUE(facts.sizes);
  ASSERT_EQ(facts.sizes->bins.size(), 5u);
  EXPECT_EQ(facts.sizes->bins[0].coverage, 0.1);  // 30 lies within 1.645 sd from the sd 19 on
  EXPECT_EQ(facts.sizes->bins[1].coverage, 1);
  EXPECT_NEAR(facts.sizes->bins[0].width, 10.5 * 2 * normal_quantile(0.95), 1e-9);
  EXPECT_NE(facts.sizes->says.find("bin 1 of 5"), std::string::npos);
  const Table small = toy_table(49);
  const at::Tensor few = at::arange(1, 50, at::kDouble);
  EXPECT_FALSE(coverage_facts(toy_scored(model, small, few, few, few, 0.9)).sizes);
}

TEST(coverage_facts, GroupsAreTheLevelsOfAColumn) {
  const Table table = toy_table(200);
  const Model model = toy_model(table);
  const at::Tensor mean = at::zeros({200}, at::kDouble), sd = at::ones({200}, at::kDouble);
  at::Tensor y = at::tensor(table.columns[2].values, at::kDouble) * 5;  // "blue" lies far off
  const std::vector<GroupFact> groups = coverage_groups(toy_scored(model, table, mean, sd, y, 0.95));
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].column, "colour");
  EXPECT_EQ(groups[0].levels[0].level, "blue");
  EXPECT_EQ(groups[0].levels[0].part.share, 0.0);
  EXPECT_EQ(groups[0].levels[1].part.share, 1.0);
  EXPECT_EQ(groups[0].levels[0].part.rows + groups[0].levels[1].part.rows, 200);
}

TEST(integral_transform, OfCountsGoesFromBelowToUpToTheCount) {
  // log variance 0: a Poisson distribution of rate 2. P(Y < 1) = exp(-2), P(Y <= 1) = 3 exp(-2).
  const Counts p{{at::full({1}, std::log(2.0), at::kDouble), at::zeros({1}, at::kDouble)}};
  const auto [below, upto] = integral_transform(p, at::ones({1}, at::kDouble));
  EXPECT_NEAR(below.item<double>(), std::exp(-2.0), 1e-8);
  EXPECT_NEAR(upto.item<double>(), 3 * std::exp(-2.0), 1e-8);
}

}  // namespace
}  // namespace slimbayes
