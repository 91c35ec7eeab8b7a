#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "slimbayes/report/facts.h"
#include "tests/report/toy.h"

namespace slimbayes {
namespace {

/// The toy table with a column w of the weights 1 to 4, every fifth 0.
Table toy_with_weights(int64_t rows, uint64_t seed) {
  Table table = toy_table(rows, seed);
  std::vector<double> w;
  for (int64_t i = 0; i < rows; ++i) w.push_back(i % 5 == 4 ? 0 : static_cast<double>(1 + i % 5));
  table.columns.push_back(numbers("w", w));
  return table;
}

Model toy_weighted_by(const std::string& column) {
  FitOptions fit;
  fit.target = "y";
  fit.method = "ridge";
  fit.ignore = {"w"};
  ModelParts parts = fit_model(toy_with_weights(200, 1), fit).parts();
  parts.fit.weights = column;
  return Model(std::move(parts));
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11) << i;
}

TEST(ReportOfWeights, HasTheNumbersOfTheRowsRepeated) {
  const Table fresh = toy_with_weights(50, 2);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < fresh.rows; ++i)
    for (int64_t k = 0; k < (i % 5 == 4 ? 0 : 1 + i % 5); ++k) places.push_back(i);
  const ReportFacts weighed = report_facts(toy_weighted_by("w"), fresh, {}),
                    each = report_facts(toy_weighted_by(""), take(Examples(fresh), places), {});
  ASSERT_EQ(weighed.scores.size(), each.scores.size());
  for (size_t i = 0; i < each.scores.size(); ++i) {
    EXPECT_EQ(weighed.scores[i].key, each.scores[i].key);
    EXPECT_NEAR(weighed.scores[i].value, each.scores[i].value, 1e-11) << each.scores[i].key;
  }
  const CoverageFacts &own = weighed.numbers.value().coverage, &other = each.numbers.value().coverage;
  expect_near(own.calibration.coverage, other.calibration.coverage);
  expect_near(own.pit.share, other.pit.share);
  EXPECT_EQ(weighed.data.scored, 40);
  EXPECT_NE(weighed.data.says.find("weighted by the column 'w'"), std::string::npos) << weighed.data.says;
  EXPECT_NE(weighed.data.says.find("10 more of weight 0 are left out"), std::string::npos);
  EXPECT_EQ(each.data.says.find("weight"), std::string::npos);
}

}  // namespace
}  // namespace slimbayes
