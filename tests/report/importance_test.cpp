#include "slimbayes/report/importance.h"

#include <gtest/gtest.h>

#include "slimbayes/report/residual_facts.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

ScoredExamples scored_rows(const Model& model, const Table& table) {
  std::vector<int64_t> places(static_cast<size_t>(table.rows));
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  return scored_examples(model, table, model.answers(table, {{0.95}}), places);
}

TEST(permutation_importance, ANoiseColumnHasNone) {
  const Table table = toy_table(600);
  const Model model = toy_model(table);
  const Table fresh = toy_table(500, 2);
  const std::vector<ColumnImportance> found = permutation_importance(scored_rows(model, fresh));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].column, "x");
  // The RMSE of shuffled x: sqrt(0.25 + 2 * 4 var(x)), about 2.87.
  EXPECT_NEAR(found[0].error, std::sqrt(0.25 + 8) - 0.5, 0.3);
  EXPECT_NEAR(found[0].mean.value(), 2, 0.1);  // the mean depends on x alone
  EXPECT_NEAR(found[0].aleatoric.value(), 0, 1e-9);
  EXPECT_GT(found[0].epistemic.value(), 0.01);
  for (size_t i : {1u, 2u}) {
    EXPECT_NEAR(found[i].error, 0, 0.01) << found[i].column;
    EXPECT_NEAR(found[i].mean.value(), 0, 0.01) << found[i].column;
    EXPECT_LT(found[i].width.value(), 0.01);
    EXPECT_LT(found[i].spread, 0.01);
  }
}

TEST(permutation_importance, IsTheSameTwiceAndCallsProgress) {
  const Table table = toy_table(100);
  const Model model = toy_model(table);
  double last = 0;
  const auto first = permutation_importance(scored_rows(model, table), [&](double share) { last = share; });
  const auto second = permutation_importance(scored_rows(model, table));
  EXPECT_EQ(last, 1);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].error, second[i].error);
  EXPECT_TRUE(permutation_importance(scored_rows(model, toy_table(5))).empty());
}

TEST(surprising_rows, AreSortedByTheTail) {
  const Table table = toy_table(50);
  const Model model = toy_model(table);
  const at::Tensor mean = at::zeros({50}, at::kDouble), sd = at::ones({50}, at::kDouble);
  at::Tensor y = Stream(9).uniform({50}) - 0.5;
  y[17] = 4.0;
  y[3] = -6.0;
  y[30] = 60.0;  // its tail is 0 in double precision, as is that of row 31
  y[31] = 50.0;
  const SurprisingFact facts = surprising_rows(toy_scored(model, table, mean, sd, y, 0.95));
  ASSERT_EQ(facts.rows.size(), 10u);
  EXPECT_EQ(facts.rows[0].row, 31);
  EXPECT_EQ(facts.rows[1].row, 32);
  EXPECT_EQ(facts.rows[2].row, 4);
  EXPECT_EQ(facts.rows[3].row, 18);
  EXPECT_NEAR(facts.rows[3].tail, std::erfc(4 / std::sqrt(2.0)), 1e-12);
  for (size_t i = 1; i < 10; ++i) EXPECT_LE(facts.rows[i - 1].tail, facts.rows[i].tail);
  EXPECT_TRUE(facts.rows[0].unusual.has_value());
}

TEST(residual_facts, SayWhereTheTargetsLieOff) {
  const Table table = toy_table(400);
  const Model model = toy_model(table);
  const at::Tensor x = at::tensor(table.columns[0].values, at::kDouble), sd = at::ones({400}, at::kDouble),
                   y = Stream(4).normal({400}) + 3 * (x > 1.2).to(at::kDouble);
  const ScoredExamples s = toy_scored(model, table, at::zeros({400}, at::kDouble), sd, y, 0.95);
  const std::vector<ResidualFact> facts = residual_facts(s, {{"x", 1, 0}, {"colour", 0.5, 0}});
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].parts.size(), 10u);
  EXPECT_NEAR(facts[0].parts[9].mean, 3, 0.7);
  EXPECT_NE(facts[0].says.find("above the prediction"), std::string::npos);
  EXPECT_EQ(facts[1].parts[0].level, "blue");
  size_t rows = 0;
  for (const ResidualPart& part : facts[0].parts) rows += part.rows;
  EXPECT_EQ(rows, 400u);
}

}  // namespace
}  // namespace slimbayes
