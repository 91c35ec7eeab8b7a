#include "slimbayes/answers/selective.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/count_metrics.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(Selective, KeepsTheFewestRowsThatMakeUpTheShare) {
  EXPECT_EQ(rows_kept(1, 7), 7);
  EXPECT_EQ(rows_kept(0.7, 10), 7);
  EXPECT_EQ(rows_kept(0.7, 7), 5);  // 4.9
  EXPECT_EQ(rows_kept(0.01, 3), 1);
  for (double share : kSharesKept) EXPECT_EQ(rows_kept(share, 2'000'000), std::llround(share * 2'000'000));
  EXPECT_THROW(rows_kept(0, 5), std::invalid_argument);
  EXPECT_THROW(rows_kept(1.1, 5), std::invalid_argument);
  EXPECT_THROW(rows_kept(0.5, 0), std::invalid_argument);
}

TEST(Selective, MeansByHandWithATieAcrossTheCut) {
  // Sorted by uncertainty: loss 1 (at 0), losses 3, 6, 9 (tied at 1), loss 100 (at 5).
  const at::Tensor uncertainty = row({5, 1, 0, 1, 1}), loss = row({100, 3, 1, 9, 6});
  const std::vector<double> means = selective_means(uncertainty, loss, {1, 0.8, 0.6, 0.4, 0.2});
  EXPECT_DOUBLE_EQ(means[0], 119 / 5.);
  EXPECT_DOUBLE_EQ(means[1], 19 / 4.);
  EXPECT_DOUBLE_EQ(means[2], (1 + 2 * 6) / 3.);  // two of the tied rows, whose mean loss is 6
  EXPECT_DOUBLE_EQ(means[3], (1 + 6) / 2.);
  EXPECT_DOUBLE_EQ(means[4], 1);
  EXPECT_DOUBLE_EQ(selective_means(row({3}), row({2}), {0.7})[0], 2);
}

// With distinct scores no choice is left, so the average over all ways to break the ties is what the metric
// claims to compute.
TEST(Selective, IsTheExpectationOverAllOrdersOfTheTies) {
  const std::vector<double> score = {2, 1, 1, 2, 0, 1, 2}, value = {.3, 1.7, 4, 0, 2.5, 1, 8};
  const std::vector<double> shares = {1, .95, .85, .7, .5, .3, .1};
  std::vector<int> order(7);
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> sum(shares.size());
  int orders = 0;
  do {
    std::vector<double> broken;  // ties broken by the place in `order`
    for (size_t i = 0; i < 7; ++i) broken.push_back(score[i] + 1e-3 * order[i]);
    const std::vector<double> means = selective_means(row(broken), row(value), shares);
    for (size_t s = 0; s < shares.size(); ++s) sum[s] += means[s];
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  ASSERT_EQ(orders, 5040);
  const std::vector<double> exact = selective_means(row(score), row(value), shares);
  for (size_t s = 0; s < shares.size(); ++s) EXPECT_NEAR(exact[s], sum[s] / orders, 1e-11) << shares[s];
}

TEST(Selective, TheOrderOfTheRowsHasNoEffectAndAConstantScoreSelectsNone) {
  const at::Tensor score = (Stream(1).normal({500}) * 3).round(), loss = Stream(2).normal({500}).square();
  const at::Tensor shuffled = Stream(3).uniform({500}).argsort();
  const std::vector<double> shares(kSharesKept.begin(), kSharesKept.end());
  const std::vector<double> means = selective_means(score, loss, shares);
  EXPECT_EQ(means, selective_means(score.index({shuffled}), loss.index({shuffled}), shares));
  EXPECT_EQ(means, selective_means(score.flip(0), loss.flip(0), shares));
  EXPECT_NEAR(means[0], loss.mean().item<double>(), 1e-13);
  const std::vector<double> constant = selective_means(at::full({500}, 0.3, at::kDouble), loss, shares);
  for (double mean : constant) EXPECT_EQ(mean, constant.front());
  EXPECT_NE(means.front(), means.back());
}

TEST(Selective, AllRowsHaveThePlainMetricsOfEveryTask) {
  const at::Tensor score = row({3, 1, 2, 1}), y = row({0.5, -1, 2, 0});
  const Regression r{row({0, 0, 1, 1}), row({1, 2, 1, 1}), row({.1, .2, .3, .4})};
  KeptRowMetrics of_numbers = selective_report(r, y, {{"s", score}}).by["s"];
  EXPECT_NEAR(of_numbers.mae.value()[0], mean_absolute_error(r, y), 1e-14);
  EXPECT_NEAR(of_numbers.rmse.value()[0], root_mean_squared_error(r, y), 1e-14);
  EXPECT_NEAR(of_numbers.nll.value()[0], regression_nll(r, y), 1e-14);
  // 70 % of four rows are three: all but the first.
  EXPECT_NEAR(of_numbers.mae.value()[6], 1, 1e-14);
  EXPECT_NEAR(of_numbers.gain["mae"], (.5 + 1 + 1 + 1) / 4 - 1, 1e-14);
  EXPECT_NEAR(of_numbers.gain_share.value()["mae"], -1 / 7., 1e-14);
  EXPECT_FALSE(of_numbers.constant);

  // A skewed density, whose median lies below its mean.
  const at::Tensor ones = row({1, 1, 1, 1});
  const Regression skewed = mixed({{0.8, row({0, 0, 1, 1}), ones, 0.1 * ones}, {0.2, 9 * ones, ones, ones}});
  KeptRowMetrics of_skewed = selective_report(skewed, y, {{"s", score}}).by["s"];
  EXPECT_NEAR(of_skewed.mae.value()[0], mean_absolute_error(skewed, y), 1e-14);
  EXPECT_NEAR(of_skewed.rmse.value()[0], root_mean_squared_error(skewed, y), 1e-14);
  EXPECT_GT((y - skewed.mean).abs().mean().item<double>(), mean_absolute_error(skewed, y) + 0.5);

  const Counts counts{{row({0, 1, 2, 0.5}), row({.1, .2, 0, .3})}};
  const at::Tensor whole = row({1, 0, 9, 2});
  KeptRowMetrics of_counts = selective_report(counts, whole, {{"s", score}}).by["s"];
  const nlohmann::json plain = fields_to_json(counts_report(counts, whole));
  const nlohmann::json kept = fields_to_json(of_counts);
  for (const char* metric : {"mae", "rmse", "nll"})
    EXPECT_NEAR(kept[metric][0].get<double>(), plain[metric].get<double>(), 1e-13) << metric;

  const at::Tensor p = row({.9, .1, .6, .4, .3, .7, .2, .8}).reshape({4, 2}), label = row({1, 0, 1, 1});
  const Classes classes{p, at::zeros({4}), at::zeros({4})};
  KeptRowMetrics of_classes = selective_report(classes, label, {{"s", score}}).by["s"];
  EXPECT_EQ(of_classes.accuracy.value()[0], accuracy(classes, label));
  EXPECT_NEAR(of_classes.nll.value()[0], class_nll(classes, label), 1e-14);
  EXPECT_EQ(of_classes.accuracy.value()[6], 1);
  EXPECT_EQ(of_classes.gain["accuracy"], 0.25);
  EXPECT_FALSE(of_classes.gain_share);
}

TEST(Selective, TheRootIsTakenAfterTheExpectation) {
  // Six tied rows, of which 70 % are five.
  const Regression p{at::zeros({6}, at::kDouble), at::ones({6}, at::kDouble), at::zeros({6}, at::kDouble)};
  const at::Tensor y = row({1, 2, 3, 4, 5, 6});
  SelectiveReport report = selective_report(p, y, {{"s", at::zeros({6}, at::kDouble)}});
  EXPECT_EQ(report.rows, (std::vector<int64_t>{6, 6, 6, 6, 5, 5, 5}));
  EXPECT_DOUBLE_EQ(report.by["s"].rmse.value()[6], std::sqrt(91 / 6.));
  EXPECT_EQ(report.by["s"].gain["rmse"], 0);
  EXPECT_TRUE(report.by["s"].constant);
  // Without an error there is no relative gain.
  EXPECT_FALSE(selective_report(p, at::zeros({6}), {{"s", y}}).by["s"].gain_share);
}

TEST(Selective, BadInputIsNamed) {
  EXPECT_THROW(selective_means(row({1, 2}), row({1}), {1}), std::invalid_argument);
  EXPECT_THROW(selective_means(row({}), row({}), {1}), std::invalid_argument);
  EXPECT_THROW(selective_means(row({1, std::nan("")}), row({1, 2}), {1}), std::invalid_argument);
  EXPECT_THROW(selective_means(row({1, 2}), row({1, INFINITY}), {1}), std::invalid_argument);
  EXPECT_THROW(selective_report(Intensity{{row({0}), row({0})}}, row({0}), {}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
