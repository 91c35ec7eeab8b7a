#include "slimbayes/answers/metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/answers/density.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

// Five rows for the reference values below: scikit-learn 1.9.1, scipy 1.17.1 (norm.logpdf, norm.ppf,
// norm.cdf).
const Regression kFive{row({0.3, -1.2, 2.5, 0.0, 4.1}), row({0.25, 0.5, 1.0, 0.04, 2.0}),
                       row({0.11, 0.0, 0.3, 0.2, 1.5})};
const at::Tensor kTargets = row({0.5, -2.0, 2.4, 1.3, -1.0});

// Returns n predictions and targets y = mean + sd z. They are calibrated if sd_factor is 1.
std::pair<Regression, at::Tensor> calibrated(int64_t n, double sd_factor = 1) {
  at::Tensor var = 0.1 + Stream(1).uniform({n}), mean = Stream(2).normal({n});
  return {{mean, 0.75 * var, 0.25 * var}, mean + sd_factor * var.sqrt() * Stream(3).normal({n})};
}

TEST(Metrics, ErrorsByHand) {
  Regression p{row({0, 0, 0}), row({1, 1, 1}), row({0, 0, 0})};
  EXPECT_DOUBLE_EQ(mean_absolute_error(p, row({1, -2, 3})), 2);
  EXPECT_DOUBLE_EQ(root_mean_squared_error(p, row({1, -1, 5})), 3);
  EXPECT_NEAR(mean_absolute_error(kFive, kTargets), 1.5, 1e-14);
  EXPECT_NEAR(root_mean_squared_error(kFive, kTargets), 2.382855429941145, 1e-14);
}

TEST(Metrics, NllMatchesScipyAndTheStandardNormal) {
  EXPECT_NEAR(regression_nll(kFive, kTargets), 2.343449643817617, 1e-13);
  EXPECT_NEAR(regression_nll({row({0}), row({0.5}), row({0.5})}, row({0})), 0.9189385332046727, 1e-15);
}

TEST(Metrics, CrpsEqualsItsIntegral) {
  // Reference value: the integral of (cdf(t) - [t >= y])^2 by mpmath 1.3 with 30 digits.
  EXPECT_NEAR(crps(kFive, kTargets), 1.20034053230183517780579, 1e-13);
  // The midpoint rule gives the same, row by row.
  for (int64_t i = 0; i < 5; ++i) {
    Regression one{kFive.mean.slice(0, i, i + 1), kFive.aleatoric_var.slice(0, i, i + 1),
                   kFive.epistemic_var.slice(0, i, i + 1)};
    double y = kTargets[i].item<double>(), mean = one.mean.item<double>(),
           sd = total_var(one).sqrt().item<double>();
    double sum = 0, width = 1e-4;
    for (double t = std::min(y, mean - 9 * sd) + width / 2; t < std::max(y, mean + 9 * sd); t += width)
      sum += width * std::pow(std::erfc((mean - t) / sd / std::sqrt(2)) / 2 - (t >= y), 2);
    EXPECT_NEAR(crps(one, kTargets.slice(0, i, i + 1)), sum, 2e-4);
  }
  // The CRPS of a certain answer is its absolute error.
  EXPECT_NEAR(crps({row({1}), row({1e-24}), row({0})}, row({3})), 2, 1e-11);
}

TEST(Metrics, ProbabilityOfMissesIsTheBinomialTail) {
  // Exact sums of binomial terms in Python's integers and doubles.
  EXPECT_NEAR(probability_of_misses(8, 50, 0.95), 0.0031883432222975768, 1e-14);
  EXPECT_NEAR(probability_of_misses(5, 50, 0.95), 0.1036168101441433, 1e-14);
  EXPECT_NEAR(probability_of_misses(40, 1000, 0.95), 0.9401851209480576, 1e-12);
  EXPECT_NEAR(probability_of_misses(3, 10, 0.5), 0.9453125, 1e-14);
  EXPECT_NEAR(probability_of_misses(1, 1, 0.9), 0.1, 1e-15);
  EXPECT_EQ(probability_of_misses(0, 10, 0.95), 1);
  EXPECT_EQ(probability_of_misses(0, 0, 0.95), 1);
  EXPECT_THROW(probability_of_misses(3, 2, 0.95), std::invalid_argument);
  EXPECT_THROW(probability_of_misses(1, 2, 1), std::invalid_argument);
}

TEST(Metrics, ARegressionReportHasTheErrorOfAConstant) {
  const NumberScores scores = regression_report(kFive, kTargets, 2).numbers.value();
  const double sd = kTargets.std(/*unbiased=*/false).item<double>();
  EXPECT_NEAR(scores.rmse_constant.value(), sd, 1e-14);
  EXPECT_NEAR(scores.standardized.value().rmse_constant.value(), sd / 2, 1e-14);
}

TEST(Metrics, CoverageAndWidthByHand) {
  Regression p{row({0, 0, 0, 0}), row({1, 1, 1, 1}), row({0, 0, 0, 0})};
  at::Tensor y = row({0, 1.9, -1.97, 3});
  EXPECT_DOUBLE_EQ(coverage(p, y, 0.95), 0.5);
  EXPECT_DOUBLE_EQ(coverage(p, y, 0.999), 1);
  EXPECT_NEAR(interval_width(p, 0.95), 2 * 1.9599639845400545, 1e-14);
  EXPECT_NEAR(interval_width(kFive, 0.9), 3.163388316969889, 1e-13);
  auto [q, t] = calibrated(200'000);
  for (double level : {0.1, 0.5, 0.95})
    EXPECT_NEAR(coverage(q, t, level), level, 5 * std::sqrt(0.25 / 200'000));
}

TEST(Metrics, IntervalScoreChargesWidthAndMisses) {
  Regression p{row({0}), row({1}), row({0})};
  double half = 1.9599639845400545;
  EXPECT_NEAR(interval_score(p, row({1}), 0.95), 2 * half, 1e-12);
  EXPECT_NEAR(interval_score(p, row({half + 0.5}), 0.95), 2 * half + 40 * 0.5, 1e-12);
  EXPECT_NEAR(interval_score(p, row({-half - 0.5}), 0.95), 2 * half + 40 * 0.5, 1e-12);
  EXPECT_NEAR(interval_score(kFive, kTargets, 0.9), 13.231189200002243, 1e-11);
}

TEST(Metrics, PitHistogramByHandAndFlatWhenCalibrated) {
  // The PIT values by scipy are .6306 .1289 .4651 .9960 .0032.
  EXPECT_TRUE(at::allclose(pit_histogram(kFive, kTargets, 4), row({0.4, 0.2, 0.2, 0.2})));
  Regression p{row({0, 0}), row({1, 1}), row({0, 0})};
  EXPECT_TRUE(at::equal(pit_histogram(p, row({-60, 60}), 10), row({.5, 0, 0, 0, 0, 0, 0, 0, 0, .5})));
  auto [q, t] = calibrated(200'000);
  at::Tensor flat = pit_histogram(q, t, 20);
  EXPECT_NEAR(flat.sum().item<double>(), 1, 1e-12);
  EXPECT_LT((flat - 0.05).abs().max().item<double>(), 5 * std::sqrt(0.05 * 0.95 / 200'000));
}

TEST(Metrics, CalibrationCurveByHandAndItsArea) {
  // |z| = .1, .6, 2. The intervals of levels .25, .5, .75 reach .319, .674, 1.150 sds.
  Regression p{row({0, 0, 0}), row({1, 1, 1}), row({0, 0, 0})};
  CalibrationCurve c = calibration_curve(p, row({-0.1, 0.6, 2}), 3);
  EXPECT_TRUE(at::allclose(c.level, row({0.25, 0.5, 0.75})));
  EXPECT_TRUE(at::allclose(c.coverage, row({1 / 3., 2 / 3., 2 / 3.})));
  EXPECT_NEAR(c.area, (1 / 12. + 1 / 6. + 1 / 12.) / 3, 1e-15);

  auto [q, t] = calibrated(100'000);
  EXPECT_LT(calibration_curve(q, t).area, 0.005);
  auto [narrow, wide] = calibrated(100'000, 3);
  EXPECT_GT(calibration_curve(narrow, wide).area, 0.25);
  for (int64_t i : {0, 49, 98})
    EXPECT_NEAR(calibration_curve(q, t).coverage[i].item<double>(),
                coverage(q, t, 0.01 * static_cast<double>(i + 1)), 1e-12);
}

TEST(Metrics, ARowWithoutVarianceIsInsideOnlyAtItsMean) {
  Regression p{row({0, 0}), row({0, 0}), row({0, 0})};
  const CalibrationCurve c = calibration_curve(p, row({0, 1e-9}), 9);
  EXPECT_TRUE(at::equal(c.coverage, at::full({9}, 0.5, at::kDouble)));
  EXPECT_THROW(calibration_curve({row({0}), row({-1}), row({0})}, row({0}), 9), std::invalid_argument);
}

TEST(Metrics, TheNllOfARowHasTheMeanNll) {
  EXPECT_NEAR(regression_row_nll(kFive, kTargets).mean().item<double>(), regression_nll(kFive, kTargets),
              1e-14);
  Regression p{row({1}), row({3}), row({1})};  // sd 2, z = 1
  EXPECT_NEAR(regression_row_nll(p, row({3})).item<double>(), std::log(2) + 0.5 + 0.5 * std::log(2 * M_PI),
              1e-15);
}

TEST(Metrics, ReportHoldsTheContractsKeys) {
  nlohmann::json r = fields_to_json(regression_report(kFive, kTargets, 2, 0.9));
  EXPECT_EQ(r["n"], 5);
  EXPECT_EQ(r.size(), 17u);
  EXPECT_DOUBLE_EQ(r["mae"], mean_absolute_error(kFive, kTargets));
  EXPECT_DOUBLE_EQ(r["coverage"], coverage(kFive, kTargets, 0.9));
  EXPECT_DOUBLE_EQ(r["interval_score"], interval_score(kFive, kTargets, 0.9));
  // The standardised figures are computed from answers and targets divided by the sd.
  Regression scaled = rescaled(kFive, 0, 0.5);
  at::Tensor y = kTargets / 2;
  EXPECT_NEAR(r["mae_standardized"], mean_absolute_error(scaled, y), 1e-14);
  EXPECT_NEAR(r["rmse_standardized"], root_mean_squared_error(scaled, y), 1e-14);
  EXPECT_NEAR(r["nll_standardized"], regression_nll(scaled, y), 1e-13);
  EXPECT_NEAR(r["crps_standardized"], crps(scaled, y), 1e-14);
  EXPECT_NEAR(r["width_standardized"], interval_width(scaled, 0.9), 1e-13);
  // The constant answer is one Gaussian with the mean and sd of y.
  at::Tensor centre = kTargets.mean().expand({5}), var = kTargets.var(/*unbiased=*/false).expand({5});
  EXPECT_NEAR(r["nll_constant"], regression_nll({centre, var, at::zeros_like(var)}, kTargets), 1e-13);
  EXPECT_NEAR(r["nll_constant_standardized"], r["nll_constant"].get<double>() - std::log(2), 1e-13);
  EXPECT_FALSE(regression_report(kFive, at::ones({5}, at::kDouble), 2).nll_constant);
  EXPECT_THROW(regression_report(kFive, kTargets, 0), std::invalid_argument);
}

TEST(Metrics, BadInputsAreRefused) {
  double nan = std::nan("");
  EXPECT_THROW(crps(kFive, row({1, 2})), std::invalid_argument);
  EXPECT_THROW(regression_nll(kFive, row({1, 2, 3, 4, nan})), std::invalid_argument);
  EXPECT_THROW(regression_nll({row({0}), row({0}), row({0})}, row({0})), std::invalid_argument);
  EXPECT_THROW(regression_nll({row({0}), row({nan}), row({0})}, row({0})), std::invalid_argument);
  EXPECT_THROW(mean_absolute_error({row({}), row({}), row({})}, row({})), std::invalid_argument);
  EXPECT_THROW(coverage(kFive, kTargets, 1), std::invalid_argument);
  EXPECT_THROW(pit_histogram(kFive, kTargets, 0), std::invalid_argument);
  EXPECT_THROW(calibration_curve(kFive, kTargets, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
