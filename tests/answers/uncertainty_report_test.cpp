#include "slimbayes/answers/uncertainty_report.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/answers/metrics.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

const Regression kTwoParts{row({0, 0, 0, 0}), row({1, 1, 1, 1}), row({.25, .25, 0, 4})};

TEST(UncertaintyReport, OfNumbersHasTheIntervalsOfBothSds) {
  const at::Tensor y = row({0.5, 1.5, 0, -3});
  const UncertaintyReport r = uncertainty_report(kTwoParts, y, {"epistemic_sd", 0.95, 2});
  // Half widths 1.96 times .5, .5, 0, 2: rows 1, 3 and 4 are inside; row 3 equals its mean.
  EXPECT_DOUBLE_EQ(r.epistemic->coverage, 0.75);
  EXPECT_NEAR(r.epistemic->width, 2 * 1.9599639845400545 * 3 / 4, 1e-13);
  EXPECT_NEAR(r.epistemic->width_standardized, r.epistemic->width / 2, 1e-15);
  EXPECT_EQ(r.selective.score, "epistemic_sd");
  EXPECT_EQ(r.selective.by.size(), 2u);
  ASSERT_TRUE(r.epistemic && r.calibration_curve && r.calibration_curve->coverage_epistemic);
  const CurveFact& curve = *r.calibration_curve;
  EXPECT_EQ(curve.level.size(), 19u);
  EXPECT_DOUBLE_EQ(curve.level[18], 0.95);
  EXPECT_EQ((*curve.coverage_epistemic)[18], r.epistemic->coverage);
  EXPECT_DOUBLE_EQ(curve.coverage[18], coverage(kTwoParts, y, 0.95));
  EXPECT_NEAR(curve.area, calibration_curve(kTwoParts, y, 19).area, 1e-15);
  EXPECT_GT(curve.area_epistemic.value(), 0);
}

TEST(UncertaintyReport, HasNoEpistemicIntervalsWithoutAnEpistemicPart) {
  const at::Tensor y = row({0.5, 1.5, 0, -3});
  Regression noise_only = kTwoParts;
  noise_only.epistemic_var = at::zeros({4}, at::kDouble);
  for (const UncertaintyReport& r :
       {uncertainty_report(noise_only, y, {"epistemic_sd"}), uncertainty_report(noise_only, y, {""}),
        uncertainty_report(kTwoParts, y, {"total_sd"})}) {
    EXPECT_FALSE(r.epistemic);
    EXPECT_FALSE(r.calibration_curve->coverage_epistemic);
    EXPECT_FALSE(r.calibration_curve->coverage.empty());
  }
  EXPECT_EQ(uncertainty_report(noise_only, y, {""}).selective.score, "total_sd");
  EXPECT_FALSE(epistemic_report(noise_only, y, 1));
}

TEST(UncertaintyReport, TheTotalIsTheEpistemicPartWhereThereIsNoNoise) {
  Regression no_noise = kTwoParts;
  no_noise.aleatoric_var = at::zeros({4}, at::kDouble);
  no_noise.epistemic_var = row({1, 2, 3, 4});
  const at::Tensor y = row({0.5, 1.5, 0, -3});
  EXPECT_EQ(epistemic_report(no_noise, y, 1, 0.5)->coverage, coverage(no_noise, y, 0.5));
  EXPECT_EQ(epistemic_report(no_noise, y, 1, 0.5)->width, interval_width(no_noise, 0.5));
}

TEST(UncertaintyReport, OfClassesHasErrorsReliabilityAndThreeScores) {
  const at::Tensor p = row({.9, .1, .6, .4, .3, .7, .2, .8}).reshape({4, 2});
  const at::Tensor entropy = -(p * p.log()).sum(1);
  const Classes classes{p, entropy, entropy - row({.01, .2, .1, .01})};
  const UncertaintyReport r = uncertainty_report(classes, row({1, 0, 1, 1}), {});
  EXPECT_EQ(r.selective.score, "mutual_information");
  EXPECT_EQ(r.selective.by.size(), 3u);
  EXPECT_EQ(r.errors->wrong, 1);
  EXPECT_EQ(r.errors->aupr_err->size(), 3u);
  double rows = 0, gap = 0;
  for (size_t i = 0; i < r.reliability->rows.size(); ++i) {
    const auto held = static_cast<double>(r.reliability->rows[i]);
    rows += held;
    gap += held * std::abs(r.reliability->accuracy[i] - r.reliability->confidence[i]);
  }
  EXPECT_EQ(rows, 4);
  EXPECT_NEAR(gap / 4, calibration_error(classes, row({1, 0, 1, 1})).expected, 1e-15);
}

TEST(UncertaintyReport, OfCountsSelectsByTheRateAndByTheTotal) {
  const Counts counts{{row({0, 1, 2}), row({.3, .2, .1})}};
  const UncertaintyReport r = uncertainty_report(counts, row({1, 2, 9}), {});
  EXPECT_EQ(r.selective.score, "log_rate_sd");
  EXPECT_TRUE(at::equal(uncertainty_scores(counts, "")["total_sd"], total_var(counts).sqrt()));
  EXPECT_EQ(r.selective.by.size(), 2u);
  EXPECT_EQ(fields_to_json(r).size(), 1u);
  EXPECT_THROW(uncertainty_report(Intensity{counts.rate}, row({1, 2, 9}), {}), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
