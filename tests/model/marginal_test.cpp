#include "slimbayes/model/joint/marginal.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "slimbayes/answers/count_distribution.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

at::Tensor of(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

Predictive three_counts() { return Counts{{of({0.5, 2.0, -1.0}), of({0.3, 0.01, 1.0})}}; }

Regression three_numbers() {
  return mixed({{1, of({0, 1, 2}), of({1, 1, 4}), of({0.1, 0.1, 0.1})},
                {2, of({3, 1, 0}), of({1, 2, 1}), of({0.1, 0.5, 0.1}), 5}});
}

TEST(Marginal, TheQuantileAtTheScoreOfACountIsTheCount) {
  const at::Tensor y = of({3, 6, 0});
  for (const double u : {0.05, 0.5, 0.95}) {
    const at::Tensor z = marginal_scores(three_counts(), y, at::full({3}, u, at::kDouble));
    EXPECT_TRUE(at::equal(marginal_quantiles(three_counts(), z.unsqueeze(0))[0], y)) << z;
  }
}

TEST(Marginal, TheScoresOfCountsFromTheirDistributionAreStandardNormal) {
  const int64_t n = 4000;
  const Predictive p = Counts{{at::full({n}, 0.7, at::kDouble), at::full({n}, 0.4, at::kDouble)}};
  const at::Tensor y = marginal_quantiles(p, Stream(1).normal({1, n}))[0];
  const at::Tensor z = marginal_scores(p, y, Stream(2).uniform({n}));
  EXPECT_NEAR(z.mean().item<double>(), 0, 0.08);  // five standard errors
  EXPECT_NEAR(z.std().item<double>(), 1, 0.06);
}

TEST(Marginal, TheScoreAtABoundIsThatOfTheCdf) {
  const Counts p = std::get<Counts>(three_counts());
  const at::Tensor cdf = poisson_lognormal_cdf(p.rate, of({2, 2, 2}));
  EXPECT_TRUE(at::allclose(at::special_ndtr(score_at(p, 2.7)), cdf, 1e-9, 1e-12));
  EXPECT_EQ(score_at(p, -0.5).max().item<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(at::equal(score_at(three_numbers(), 1.0), normal_score(three_numbers(), of({1, 1, 1}))));
}

TEST(Marginal, TheQuantilesOfEachRowAreThoseAtItsScores) {
  const Regression gaussian{of({0, 1, 2}), of({1, 2, 3}), of({0.5, 0, 1})};
  const at::Tensor z = Stream(3).normal({4, 3});
  for (const Regression& p : {gaussian, three_numbers()}) {
    const at::Tensor all = quantiles(p, z);
    for (int64_t s = 0; s < 4; ++s)
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_NEAR(all[s][i].item<double>(), quantile(p, z[s][i].item<double>())[i].item<double>(), 1e-9);
    EXPECT_TRUE(at::allclose(marginal_scores(p, all[0], {}), z[0], 1e-8, 1e-8));
  }
  EXPECT_THROW(quantiles(gaussian, z.t()), std::invalid_argument);
}

TEST(Marginal, ClassesHaveNoScores) {
  const Classes p{of({0.5, 0.5}).unsqueeze(0), of({0.7}), of({0.7})};
  EXPECT_THROW(marginal_scores(p, of({0}), of({0.5})), std::invalid_argument);
  EXPECT_FALSE(has_scores(TaskKind::classification));
}

}  // namespace
}  // namespace slimbayes
