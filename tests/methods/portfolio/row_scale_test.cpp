#include "slimbayes/methods/portfolio/row_scale.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

/// Features of some rows, scores whose log variance is w^T features, and five folds.
struct HeldOutScores {
  at::Tensor features, score;
  std::vector<int64_t> part;
};

HeldOutScores scores(int64_t n, const at::Tensor& w, uint64_t seed) {
  HeldOutScores s{Stream(seed).split("x").normal({n, w.size(0)}), {}, {}};
  s.score = (0.5 * at::mv(s.features, w)).exp() * Stream(seed).split("z").normal({n});
  for (int64_t i = 0; i < n; ++i) s.part.push_back(i % 5);
  return s;
}

RowScale fitted(const HeldOutScores& s) { return fitted_row_scale(s.score, s.features, s.part); }

const at::Tensor kSlopes = at::tensor({0.8, -0.5, 0.0}, at::kDouble);

TEST(RowScale, FindsTheSpreadOfEachRow) {
  const RowScale scale = fitted(scores(5000, kSlopes, 1));
  ASSERT_FALSE(scale.constant());
  // sd of a weight about sqrt(1 / (.31 n)) = .025, and the prior shrinks them by less.
  EXPECT_LT((scale.weights / scale.spread - kSlopes).abs().max().item<double>(), 0.13);
}

TEST(RowScale, IsConstantWhereTheSpreadIs) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed)
    found += fitted(scores(300, at::zeros({8}, at::kDouble), seed)).constant() ? 0 : 1;
  EXPECT_LE(found, 3);  // one test in 40 errs for each of three prior sds
}

TEST(RowScale, IgnoresTheSizeOfTheScoresAndTheScaleOfTheFeatures) {
  HeldOutScores s = scores(800, kSlopes, 2);
  const at::Tensor before = log_factors(fitted(s), s.features);
  s.score = 1e3 * s.score;
  s.features = 5 + 1e-3 * s.features;
  EXPECT_LT((log_factors(fitted(s), s.features) - before).abs().max().item<double>(), 1e-4);
}

TEST(RowScale, AFewWildScoresCountLittle) {
  HeldOutScores s = scores(2000, kSlopes, 3);
  const at::Tensor before = log_factors(fitted(s), s.features);
  s.score = s.score.clone();
  s.score.slice(0, 0, 20).mul_(1e4);
  const at::Tensor after = log_factors(fitted(s), s.features);
  EXPECT_LT((after - before).abs().max().item<double>(), 0.6);
}

// At the maximum the posterior's gradient is 0: a step along any feature in either direction lowers it.
TEST(RowScale, HasTheLargestPosteriorDensity) {
  const HeldOutScores s = scores(1000, kSlopes, 4);
  const RowScale scale = fitted(s);
  const at::Tensor x = (s.features - scale.centre) / scale.spread;
  const auto loss = [&](const at::Tensor& w, double prior_sd) {
    double least = std::numeric_limits<double>::infinity();  // over the constant
    for (double c = -0.3; c <= 0.3; c += 0.001) {
      const at::Tensor eta = at::mv(x, w) + c;
      const at::Tensor rows = 0.5 * eta + 3 * (s.score.square() * (-eta).exp() / 5).log1p();
      least = std::min(least, (rows.sum() + 0.5 * w.square().sum() / (prior_sd * prior_sd)).item<double>());
    }
    return least;
  };
  int best = 0;  // the weights are the maximum for one of the prior sds
  for (const double prior_sd : {0.05, 0.15, 0.5}) {
    bool maximum = true;
    for (int64_t j = 0; j < 3; ++j)
      for (const double step : {-0.05, 0.05}) {
        at::Tensor other = scale.weights.clone();
        other[j] += step;
        maximum = maximum && loss(other, prior_sd) > loss(scale.weights, prior_sd);
      }
    best += maximum ? 1 : 0;
  }
  EXPECT_GE(best, 1);
}

TEST(RowScale, FarRowsKeepWithinWhatWasSeen) {
  const HeldOutScores s = scores(500, kSlopes, 5);
  const RowScale scale = fitted(s);
  const at::Tensor far = log_factors(scale, 1e6 * at::ones({1, 3}, at::kDouble));
  EXPECT_LE(far.item<double>(), scale.high);
  EXPECT_GE(far.item<double>(), scale.low);
  // Five of 500 rows lie beyond each end.
  const at::Tensor seen = log_factors(scale, s.features);
  EXPECT_EQ((seen == scale.high).sum().item<int64_t>(), 5);
  EXPECT_EQ((seen == scale.low).sum().item<int64_t>(), 5);
}

TEST(RowScale, OneOddRowDoesNotDecideHowQuietFarRowsAre) {
  HeldOutScores s = scores(1000, kSlopes, 8);
  s.features = s.features.clone();
  s.features[0][2] = 60;  // and its residual happens to be tiny
  s.score[0] = 1e-9;
  const RowScale scale = fitted(s);
  at::Tensor far = at::zeros({1, 3}, at::kDouble);
  far[0][2] = 1e3;
  EXPECT_GT(log_factors(scale, far).item<double>(), -4);
}

TEST(RowScale, LeavesWhatIsUnsureFarFromTheData) {
  const HeldOutScores s = scores(500, kSlopes, 5);
  RowScale scale = fitted(s);
  scale.seen_epistemic = 0.5;
  const at::Tensor far = -1e6 * kSlopes.unsqueeze(0), one = at::ones({1}, at::kDouble);
  const double factor = std::exp(scale.low);
  const Regression near = scaled_rows(scale, far, {one, 2 * one, 0.4 * one}),
                   beyond = scaled_rows(scale, far, {one, 2 * one, 7 * one});
  EXPECT_NEAR(near.aleatoric_var.item<double>(), 2 * factor, 1e-12);
  EXPECT_NEAR(near.epistemic_var.item<double>(), 0.4 * factor, 1e-12);
  EXPECT_NEAR(beyond.aleatoric_var.item<double>(), 2 * factor, 1e-12);
  EXPECT_NEAR(beyond.epistemic_var.item<double>(), 0.5 * factor + 6.5, 1e-12);
}

TEST(RowScale, ConstantColumnsFewRowsAndOneFoldAreSane) {
  HeldOutScores s = scores(500, kSlopes, 6);
  s.features = at::cat({s.features, at::full({500, 1}, 1e8, at::kDouble)}, 1);
  EXPECT_TRUE(at::isfinite(log_factors(fitted(s), s.features)).all().item<bool>());
  EXPECT_TRUE(fitted(scores(30, 3 * kSlopes, 7)).constant());
  const std::vector<int64_t> one(500, 0);
  EXPECT_TRUE(fitted_row_scale(s.score, s.features, one).constant());
  EXPECT_THROW(fitted_row_scale(s.score, s.features, {0, 1}), std::invalid_argument);
  EXPECT_THROW(log_factors(fitted(s), at::ones({2, 2}, at::kDouble)), std::invalid_argument);
  s.score[3] = std::nan("");
  EXPECT_THROW(fitted(s), std::invalid_argument);
  const HeldOutScores zero{s.features, at::zeros({500}, at::kDouble), s.part};
  EXPECT_TRUE(at::isfinite(log_factors(fitted(zero), zero.features)).all().item<bool>());
}

}  // namespace
}  // namespace slimbayes
