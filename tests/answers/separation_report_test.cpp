#include "slimbayes/answers/separation_report.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "slimbayes/answers/ranking.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(SeparationReport, ByHandWithTies) {
  SeparationReport r = separation_report({{"s", row({0, 1, 1, 2})}}, {{"s", row({1, 3})}});
  EXPECT_EQ(r.n, 4);
  EXPECT_EQ(r.n_foreign, 2);
  EXPECT_DOUBLE_EQ(r.foreign_share, 1 / 3.);
  EXPECT_DOUBLE_EQ(r.auroc["s"], (1 + 0.5 + 0.5 + 0 + 4) / 8);
  EXPECT_DOUBLE_EQ(r.fpr95["s"], 0.75);  // the threshold is 1
  EXPECT_DOUBLE_EQ(r.tpr5["s"], 0.5);    // no false alarm is allowed: above 2
  // Foreign rows from the highest score: 3 at precision 1, then 1 with three others at or above it.
  EXPECT_DOUBLE_EQ(r.aupr_ood["s"], 0.5 * 1 + 0.5 * 2 / 5);
  EXPECT_EQ(r.aupr, r.aupr_ood);
  // Data rows from the lowest score: 0 at precision 1; 1, 1 at 3 of 4; 2 at 4 of 5.
  EXPECT_DOUBLE_EQ(r.aupr_in["s"], 0.25 * 1 + 0.5 * 3 / 4 + 0.25 * 4 / 5);
  EXPECT_DOUBLE_EQ(r.ratio["s"], 2);
  EXPECT_TRUE(r.ratio_absent.empty());
  EXPECT_DOUBLE_EQ(r.chance.aupr_in, 2 / 3.);
}

TEST(SeparationReport, HistogramsCountEveryRowOnce) {
  const at::Tensor near = at::arange(0, 100, at::kDouble), far = at::arange(100, 200, at::kDouble);
  std::map<std::string, SeparationHistogram> h =
      score_histograms({{"s", near}, {"same", row({1, 1})}}, {{"s", far}, {"same", row({1})}});
  EXPECT_DOUBLE_EQ(h["s"].low, 2);  // of 0, ..., 199
  EXPECT_DOUBLE_EQ(h["s"].high, 197);
  const std::vector<int64_t> inside = h["s"].inside, outside = h["s"].outside;
  ASSERT_EQ(inside.size(), 30U);
  EXPECT_EQ(std::accumulate(inside.begin(), inside.end(), int64_t{0}), 100);
  EXPECT_EQ(std::accumulate(outside.begin(), outside.end(), int64_t{0}), 100);
  EXPECT_EQ(inside[0], 9);    // 0 to 8: a bin is 6.5 wide, and 0 and 1 lie below the first
  EXPECT_EQ(inside[15], 0);   // from 99.5
  EXPECT_EQ(outside[14], 0);  // to 99.5
  EXPECT_EQ(h["same"].inside[0], 2);
  EXPECT_EQ(h["same"].outside[0], 1);
  EXPECT_DOUBLE_EQ(h["same"].high, 2);
}

TEST(SeparationReport, SwappedRolesSwapTheTwoAverages) {
  const at::Tensor a = (Stream(1).normal({60}) * 2).round(), b = (Stream(2).normal({90}) * 2 + 1).round();
  SeparationReport r = separation_report({{"s", a}}, {{"s", b}});
  SeparationReport swapped = separation_report({{"s", -b}}, {{"s", -a}});
  EXPECT_EQ(r.aupr_in["s"], swapped.aupr_ood["s"]);
  EXPECT_EQ(r.aupr_ood["s"], swapped.aupr_in["s"]);
  EXPECT_EQ(r.auroc, swapped.auroc);
  SeparationReport turned = separation_report({{"s", a.flip(0)}}, {{"s", b.flip(0)}});
  EXPECT_EQ(r.aupr_ood, turned.aupr_ood);
  EXPECT_EQ(r.aupr_in, turned.aupr_in);
  EXPECT_EQ(r.tpr5, turned.tpr5);
}

TEST(SeparationReport, AConstantScoreGivesThePrevalences) {
  SeparationReport r = separation_report({{"s", row({2, 2, 2})}}, {{"s", row({2, 2})}});
  EXPECT_DOUBLE_EQ(r.aupr_ood["s"], 0.4);
  EXPECT_DOUBLE_EQ(r.aupr_in["s"], 0.6);
  EXPECT_EQ(r.aupr_ood["s"], r.foreign_share);
  EXPECT_EQ(r.tpr5["s"], 0);
  EXPECT_EQ(r.fpr95["s"], 1);
  EXPECT_EQ(r.ratio["s"], 1);
}

TEST(SeparationReport, ARatioThatIsNotDefinedIsAbsentWithAReason) {
  SeparationReport r = separation_report({{"energy", row({-3, -2})}, {"mutual_information", row({0, 0})}},
                                         {{"energy", row({-1, 0})}, {"mutual_information", row({0, 1})}});
  EXPECT_TRUE(r.ratio.empty());
  EXPECT_EQ(r.ratio_absent["energy"], "the score takes negative values");
  EXPECT_EQ(r.ratio_absent["mutual_information"], "the mean of the score over the data is 0");
  EXPECT_EQ(fields_to_json(r).dump().find("null"), std::string::npos);  // how JSON writes NaN and infinity
  // A mean so small that the ratio overflows.
  EXPECT_TRUE(separation_report({{"s", row({1e-310})}}, {{"s", row({1})}}).ratio.empty());
}

TEST(SeparationReport, ListsInvertedScoresAndRefusesBadOnes) {
  const at::Tensor low = at::arange(40, at::kDouble), high = low + 30;
  EXPECT_EQ(separation_report({{"s", high}}, {{"s", low}}).inverted, (std::vector<std::string>{"s"}));
  EXPECT_TRUE(separation_report({{"s", low}}, {{"s", high}}).inverted.empty());
  EXPECT_THROW(separation_report({{"s", row({})}}, {{"s", row({1})}}), std::invalid_argument);
  EXPECT_THROW(separation_report({{"s", row({1})}}, {{"s", row({std::nan("")})}}), std::invalid_argument);
  EXPECT_THROW(separation_report({{"s", row({1})}}, {}), std::out_of_range);
}

}  // namespace
}  // namespace slimbayes
