#include "slimbayes/answers/count_metrics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(CountMetrics, ByHandWhereTheRateIsKnown) {
  Counts p{{row({std::log(2), std::log(2)}), row({0, 0})}};
  nlohmann::json r = fields_to_json(counts_report(p, row({1, 5}), 0.9));
  EXPECT_EQ(r["n"], 2);
  EXPECT_NEAR(r["mae"], 2, 1e-12);
  EXPECT_NEAR(r["rmse"], std::sqrt(5), 1e-12);
  // Poisson(2): P(1) = 2 e^-2, P(5) = 32/120 e^-2. P(0) = .135, so the 5 % quantile is 0; the 95 % quantile
  // is 5.
  EXPECT_NEAR(r["nll"], (2 - std::log(2) + 2 - std::log(32 / 120.)) / 2, 1e-10);
  EXPECT_NEAR(r["nll_constant"], (3 - std::log(3) + 3 - std::log(243 / 120.)) / 2, 1e-10);  // Poisson(3)
  EXPECT_EQ(counts_report(p, row({0, 0})).nll_constant, 0);
  EXPECT_EQ(r["coverage"], 1);
  EXPECT_EQ(r["width"], 5);
  EXPECT_EQ(counts_report(p, row({1, 6}), 0.9).coverage, 0.5);
  EXPECT_NEAR(counts_report(p, row({1, 6}), 0.9).numbers.value().interval_score, 5 + 0.5 * 20, 1e-10);
}

TEST(CountMetrics, IntervalsOfTheRightModelCoverAtLeastTheirLevel) {
  int64_t n = 1500;
  at::Tensor m = Stream(1).normal({n}) + 2, v = 0.3 * Stream(2).uniform({n});
  at::Tensor rate = at::exp(m + v.sqrt() * Stream(3).normal({n}));
  // A Poisson count is the number of unit-rate arrivals (sums of exponential gaps) below the rate.
  at::Tensor gaps = -at::log(Stream(4).uniform({n, 400})),
             y = (gaps.cumsum(1) < rate.unsqueeze(1)).sum(1).to(at::kDouble);
  Counts p{{m, v}};
  for (double level : {0.5, 0.9}) {
    double got = counts_report(p, y, level).coverage.value();
    EXPECT_GT(got, level - 0.02);
    EXPECT_LT(got, level + 0.12);  // whole-number bounds cover more than asked for if counts are small
  }
  Counts sure{{m + v / 2, at::zeros_like(v)}};  // the same mean, without the uncertainty of the rate
  EXPECT_LT(count_nll(p, y), count_nll(sure, y));
}

TEST(CountMetrics, BadInputIsNamed) {
  Counts p{{row({0, 0}), row({0, 0})}};
  EXPECT_THROW(count_nll(p, row({1})), std::invalid_argument);
  EXPECT_THROW(count_nll(p, row({1, 0.5})), std::invalid_argument);
  EXPECT_THROW(count_nll({{row({}), row({})}}, row({})), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
