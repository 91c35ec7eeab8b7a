#include "slimbayes/answers/joint/energy_score.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/core/random.h"
#include "tests/answers/joint/correlations.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// The mean of x [n] in units of its standard error.
double mean_in_errors(const at::Tensor& x) {
  return x.mean().item<double>() / (x.std().item<double>() / std::sqrt(static_cast<double>(x.numel())));
}

TEST(EnergyScore, ByHand) {
  const double unknown = std::nan("");
  // Two draws, (0, 0) and (3, 4), for each of three rows; their distance is 5, or 3 in the first coordinate.
  const at::Tensor draws = row({0, 0, 3, 4}).view({2, 1, 2}).expand({2, 3, 2});
  const at::Tensor y = row({0, 0, 3, 0, 5, unknown}).view({3, 2});
  EXPECT_TRUE(at::allclose(energy_row_score(draws, y), row({2.5 - 2.5, 3.5 - 2.5, 3.5 - 1.5}), 0, 1e-14));
}

TEST(EnergyScore, IsTheCrpsOfOneTarget) {
  const int64_t n = 300, size = 200;
  const at::Tensor y = 2 * Stream(1).normal({n}), mean = Stream(2).normal({n}),
                   sd = 0.5 + Stream(3).uniform({n});
  const Regression p{mean, sd.square(), at::zeros({n}, at::kDouble)};
  const at::Tensor draws = (mean + sd * Stream(4).normal({size, n})).unsqueeze(2);
  const at::Tensor gap = energy_row_score(draws, y.unsqueeze(1)) - regression_row_crps(p, y);
  EXPECT_LT(std::abs(mean_in_errors(gap)), 4);
  EXPECT_LT(gap.abs().max().item<double>(), 0.6);
}

// Two draws suffice for an unbiased score; with S^2 pairs its mean would be larger by 1 / (2 sqrt(pi)) = .28.
TEST(EnergyScore, IsUnbiased) {
  const int64_t n = 20000;
  const at::Tensor y = Stream(5).normal({n});
  const Regression p{at::zeros({n}, at::kDouble), at::ones({n}, at::kDouble), at::zeros({n}, at::kDouble)};
  const at::Tensor gap =
      energy_row_score(Stream(6).normal({2, n, 1}), y.unsqueeze(1)) - regression_row_crps(p, y);
  EXPECT_LT(std::abs(mean_in_errors(gap)), 4);
  EXPECT_LT(gap.mean().abs().item<double>(), 0.05);
}

TEST(EnergyScore, OfARowDoesNotDependOnOtherRows) {
  const at::Tensor draws = Stream(7).normal({20, 50, 3}), y = Stream(8).normal({50, 3});
  const at::Tensor all = energy_row_score(draws, y);
  EXPECT_TRUE(
      at::equal(energy_row_score(draws.narrow(1, 17, 20), y.narrow(0, 17, 20)), all.narrow(0, 17, 20)));
}

TEST(EnergyScore, PrefersTheRightCorrelation) {
  const int64_t n = 300, k = 3;
  const at::Tensor matrix = equicorrelated(k, 0.9), y = copula_scores(matrix, n, 1, Stream(9))[0];
  const at::Tensor right = energy_row_score(copula_scores(matrix, n, 100, Stream(10)), y);
  const at::Tensor none = energy_row_score(copula_scores(at::eye(k, at::kDouble), n, 100, Stream(10)), y);
  EXPECT_GT(mean_in_errors(none - right), 3);
}

TEST(EnergyScore, RefusesWhatItCannotScore) {
  const at::Tensor draws = Stream(11).normal({5, 4, 2}), y = Stream(12).normal({4, 2});
  EXPECT_THROW(energy_row_score(draws.narrow(0, 0, 1), y), std::invalid_argument);
  EXPECT_THROW(energy_row_score(draws, y.narrow(0, 0, 3)), std::invalid_argument);
  EXPECT_THROW(energy_row_score(draws / 0, y), std::invalid_argument);
  EXPECT_THROW(energy_row_score(draws, y / 0), std::invalid_argument);
  const at::Tensor unknown = y.clone();
  unknown[2].fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(energy_row_score(draws, unknown), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
