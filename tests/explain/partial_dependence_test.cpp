#include "slimbayes/explain/partial_dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/explain/toy_explained.h"

namespace slimbayes {
namespace {

double number_at(const PartialPoint& point) { return std::get<double>(point.value); }

TEST(partial_dependence, OfALinearModelIsALineWithItsSlope) {
  const Table table = explained_table(300);
  const Model model = explained_ridge(table);
  const PartialDependence found = partial_dependence(explained_rows(model, table), "x1");
  ASSERT_EQ(found.points.size(), 20u);
  EXPECT_EQ(found.kind, "numeric");
  Table two = take_rows(table, {0, 0});
  two.columns[0].values = {-1, 1};
  const at::Tensor mean = model.predict(two).mean;
  const double slope = (mean[1].item<double>() - mean[0].item<double>()) / 2;
  EXPECT_NEAR(slope, 3, 0.3);
  const PartialPoint& first = found.points.front();
  for (const PartialPoint& point : found.points) {
    EXPECT_EQ(point.rows, 300);
    EXPECT_NEAR(point.numbers->mean - first.numbers->mean, slope * (number_at(point) - number_at(first)),
                1e-5);
  }
  EXPECT_EQ(number_at(first), std::ranges::min(table.columns[0].values));
  EXPECT_EQ(number_at(found.points.back()), std::ranges::max(table.columns[0].values));
  EXPECT_TRUE(found.notes.empty());
}

TEST(partial_dependence, OfTheNoiseIsTheRootOfItsMeanVariance) {
  const Table table = explained_table(300);
  const Model model = true_model(table);
  const ExplainedRows rows = explained_rows(model, table);
  const double scale = model.schema().task.y_scale;
  for (const PartialPoint& point : partial_dependence(rows, "x2").points) {
    EXPECT_NEAR(point.numbers->sd_aleatoric / std::exp(number_at(point) / 2), 1, 1e-5);
    EXPECT_NEAR(point.numbers->sd_epistemic, 0.1 * scale, 1e-9);
    const double sd = std::hypot(point.numbers->sd_aleatoric, point.numbers->sd_epistemic);
    EXPECT_NEAR(point.numbers->width, 2 * 1.959964 * sd, 1e-4 * sd);
  }
  // The noise does not depend on x1: every point has the root of the mean of e^x2.
  const auto flat = partial_dependence(rows, "x1", {.rows = 300, .points = 3}).points;
  ASSERT_EQ(flat.size(), 3u);
  double var = 0;
  for (const double x2 : table.columns[1].values) var += std::exp(x2) / 300;
  EXPECT_NEAR(flat[0].numbers->sd_aleatoric, std::sqrt(var), 1e-5 * std::sqrt(var));
  EXPECT_NEAR(flat[2].numbers->sd_aleatoric, flat[0].numbers->sd_aleatoric, 1e-9);
}

TEST(partial_dependence, OfCategoriesHasTheirLevelsByFrequency) {
  Table table = explained_table(200);
  Column kind = categories("kind", {}, {"blue", "red", "never"});
  for (int64_t i = 0; i < 200; ++i) kind.values.push_back(i % 4 == 0 ? 0 : 1);
  for (size_t i = 0; i < 200; ++i) table.columns[3].values[i] += 5 * kind.values[i];
  table.columns.insert(table.columns.begin(), kind);
  const Model model = explained_ridge(table);
  const ExplainedRows rows = explained_rows(model, table);
  const PartialDependence found = partial_dependence(rows, "kind");
  ASSERT_EQ(found.points.size(), 2u);
  EXPECT_EQ(std::get<std::string>(found.points[0].value), "red");
  EXPECT_NEAR(found.points[0].numbers->mean - found.points[1].numbers->mean, 5, 0.7);
  expect_has(error_of([&] { partial_dependence(rows, "kinds"); }), "did you mean 'kind'?");
}

TEST(partial_dependence, NamesColumnsThatGoTogether) {
  Table table = explained_table(200);
  Column copy = table.columns[0];
  copy.name = "copy";
  for (double& x : copy.values) x = std::exp(x);
  table.columns.insert(table.columns.begin() + 1, copy);
  const Model model = explained_ridge(table);
  const PartialDependence found = partial_dependence(explained_rows(model, table), "x1", {.points = 2});
  ASSERT_EQ(found.notes.size(), 1u);
  expect_has(found.notes[0], "'copy'");
}

TEST(partial_dependence, OfClassesHasTheirProbabilities) {
  Table table = explained_table(200);
  Column& y = table.columns[3];
  y.kind = ColumnKind::categorical;
  y.levels = {"down", "up"};
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = table.columns[0].values[i] > 0 ? 1 : 0;
  FitOptions fit;
  fit.target = "y";
  fit.method = "logistic";
  const Model model = fit_model(table, fit);
  const auto points = partial_dependence(explained_rows(model, table), "x1", {.points = 5}).points;
  ASSERT_EQ(points.size(), 5u);
  EXPECT_LT(points.front().classes->probabilities.at("up"), 0.1);
  EXPECT_GT(points.back().classes->probabilities.at("up"), 0.9);
  EXPECT_NEAR(points[2].classes->probabilities.at("up") + points[2].classes->probabilities.at("down"), 1,
              1e-12);
  EXPECT_FALSE(points[0].numbers.has_value());
}

}  // namespace
}  // namespace slimbayes
