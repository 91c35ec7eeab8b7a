#include "slimbayes/explain/group_importance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/explain/explain.h"
#include "slimbayes/storage/error.h"
#include "tests/explain/toy_explained.h"

namespace slimbayes {
namespace {

const GroupImportance& of(const std::vector<GroupImportance>& all, const std::string& group) {
  return *std::ranges::find(all, group, &GroupImportance::group);
}

TEST(group_importance, TellsTheColumnOfTheMeanFromThatOfTheNoise) {
  const Table table = explained_table(1000);
  const Model model = true_model(table);
  const ExplainedRows rows = explained_rows(model, table);
  const auto found = group_importance(rows, single_columns(rows));
  ASSERT_EQ(found.size(), 3u);
  const GroupImportance &x1 = of(found, "x1"), &x2 = of(found, "x2"), &x3 = of(found, "x3");
  EXPECT_EQ(found[0].group, "x1");
  EXPECT_EQ(found[1].group, "x2");
  // Alone in the mean: E (m' - m)^2 / var m = 2. The RMSE of shuffled x1: sqrt(e^(1/2) + 2 * 9).
  EXPECT_NEAR(x1.mean->value, 2, 0.1);
  EXPECT_NEAR(x1.rmse->value, std::sqrt(std::exp(0.5) + 18) - std::exp(0.25), 0.4);
  EXPECT_NEAR(x1.aleatoric->value, 0, 1e-6);
  EXPECT_NEAR(x2.mean->value, 0, 1e-9);
  EXPECT_NEAR(x2.rmse->value, 0, 1e-6);
  // E |e^(a / 2) - e^(b / 2)| / E e^(a / 2) of independent a, b ~ N(0, 1) is 2 (2 Phi(s / sqrt 2) - 1), where
  // s = 1/2 is the sd of the logarithm: twice the Gini coefficient of a log-normal variable.
  EXPECT_NEAR(x2.aleatoric->value, 2 * std::erf(0.25), 0.05);
  EXPECT_GT(x2.nll->value, 0.2);
  for (const auto& number : {x3.nll, x3.rmse, x3.mean, x3.aleatoric, x3.epistemic, x3.width, x1.epistemic}) {
    EXPECT_NEAR(number->value, 0, 1e-6);
  }
  EXPECT_FALSE(x1.accuracy.has_value());
  EXPECT_GT(x1.rmse->se.value(), 0);
}

TEST(group_importance, WithoutTargetsHasTheSameChangesAndNoErrors) {
  const Table table = explained_table(400);
  const Model model = true_model(table);
  const ExplainedRows with = explained_rows(model, table),
                      without = explained_rows(model, without_target(table));
  EXPECT_FALSE(without.y.defined());
  const auto known = group_importance(with, single_columns(with)),
             unknown = group_importance(without, single_columns(without));
  EXPECT_EQ(unknown[0].group, "x1");
  EXPECT_FALSE(unknown[0].nll || unknown[0].rmse || unknown[0].accuracy);
  for (const char* name : {"x1", "x2", "x3"}) {
    EXPECT_EQ(of(known, name).mean->value, of(unknown, name).mean->value);
    EXPECT_EQ(of(known, name).width->value, of(unknown, name).width->value);
  }
}

TEST(group_importance, DoesNotDependOnTheOtherGroups) {
  const Table table = explained_table(200);
  const Model model = explained_ridge(table);
  const ExplainedRows rows = explained_rows(model, table);
  const auto singles = group_importance(rows, single_columns(rows)),
             grouped = group_importance(rows, given_groups(rows, {{"x3", "x2"}}), {.repeats = 5});
  EXPECT_EQ(of(singles, "x1").rmse->value, of(grouped, "x1").rmse->value);
  EXPECT_EQ(of(grouped, "x3 + x2").columns, (std::vector<std::string>{"x3", "x2"}));
  EXPECT_FALSE(of(group_importance(rows, single_columns(rows), {.repeats = 1}), "x1").rmse->se.has_value());
}

TEST(group_importance, PermutesTheColumnsOfAGroupTogether) {
  Table table = explained_table(300);
  Column copy = table.columns[0];
  copy.name = "copy";
  table.columns.insert(table.columns.begin() + 1, copy);
  const Model model = explained_ridge(table);
  const ExplainedRows rows = explained_rows(model, table);
  const auto groups = associated_groups(rows);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name(), "x1 + copy");
  EXPECT_NE(groups_note(groups).find("'x1 + copy'"), std::string::npos);
  EXPECT_EQ(groups_note(single_columns(rows)), "");
  // Each alone has half of the slope, both together the whole of it.
  const auto together = group_importance(rows, groups), alone = group_importance(rows, single_columns(rows));
  EXPECT_NEAR(of(together, "x1 + copy").mean->value, 2, 0.2);
  EXPECT_NEAR(of(alone, "x1").mean->value, 0.5, 0.1);
}

TEST(group_importance, OfClassesIsTheFallOfTheAccuracy) {
  Table table = explained_table(400);
  Column& y = table.columns[3];
  y.kind = ColumnKind::categorical;
  y.levels = {"down", "up"};
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = table.columns[0].values[i] > 0 ? 1 : 0;
  FitOptions fit;
  fit.target = "y";
  fit.method = "logistic";
  const Model model = fit_model(table, fit);
  const ExplainedRows rows = explained_rows(model, table);
  const auto found = group_importance(rows, single_columns(rows));
  EXPECT_EQ(found[0].group, "x1");
  EXPECT_NEAR(found[0].accuracy->value, 0.5, 0.1);
  EXPECT_FALSE(found[0].rmse || found[0].width);
  EXPECT_GT(found[0].mean->value, 1);
}

TEST(explained_rows, RefusesWhatItCannotExplain) {
  const Table table = explained_table(60);
  const Model model = explained_ridge(table);
  const ExplainedRows rows = explained_rows(model, table);
  expect_has(error_of([&] { explained_rows(model, explained_table(9)); }), "at least 10 rows with an answer");
  expect_has(error_of([&] { given_groups(rows, {{"x1", "z"}}); }), "received 'z'");
  expect_has(error_of([&] { given_groups(rows, {{"x1", "x2"}, {"x2"}}); }), "received 'x2' twice");
  expect_has(error_of([&] { group_importance(rows, single_columns(rows), {.repeats = 0}); }),
             "at least one permutation");
  expect_has(error_of([&] { groups_of_text("x1,;x2"); }), "received 'x1,;x2'");
  EXPECT_EQ(groups_of_text("a, b;c"), (std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}}));
  Table far = table;
  for (double& x : far.columns[0].values) x = 1e300;
  EXPECT_THROW(explained_rows(model, far), DataError);
}

TEST(explain, LeavesRowsWithoutAnAnswerOutAndSaysSo) {
  const Table table = explained_table(60);
  const Model model = explained_ridge(table);
  Table odd = table;
  odd.columns[0].values[3] = 1e300;
  const ExplainReport report = explain(model, odd, {.repeats = 1});
  EXPECT_EQ(report.rows, 59);
  EXPECT_TRUE(std::ranges::any_of(
      report.notes, [](const std::string& note) { return note.find("left out") != std::string::npos; }));
  expect_has(error_of([&] { explain(model, table, {.columns = {"x1", "x1"}}); }), "received 'x1' twice");
}

}  // namespace
}  // namespace slimbayes
