#include "slimbayes/answers/joint/copula.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "slimbayes/answers/joint/normal_scores.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/storage/error.h"
#include "tests/answers/joint/correlations.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

double log_normal_density(double z) { return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi); }

TEST(Copula, IsTheBivariateNormalWithoutItsMarginals) {
  const double rho = -0.6;
  const at::Tensor z = Stream(1).normal({50, 2}), c = copula_row_log_density(z, equicorrelated(2, rho));
  for (int64_t i = 0; i < 50; ++i) {
    const double x = z[i][0].item<double>(), y = z[i][1].item<double>(), left = 1 - rho * rho;
    const double joint = -std::log(2 * std::numbers::pi) - 0.5 * std::log(left) -
                         (x * x - 2 * rho * x * y + y * y) / (2 * left);
    EXPECT_NEAR(c[i].item<double>(), joint - log_normal_density(x) - log_normal_density(y), 1e-12);
  }
}

TEST(Copula, IntegratesToOne) {
  const Quadrature grid = tensor_grid(gauss_hermite(60), 3);
  const at::Tensor c = copula_row_log_density(grid.nodes, three_correlations(0.5, -0.3, 0.2)).exp();
  EXPECT_NEAR((grid.weights * c).sum().item<double>(), 1, 1e-9);
}

TEST(Copula, LeavesOutUnknownTargets) {
  const at::Tensor matrix = three_correlations(0.5, -0.3, 0.4);
  const at::Tensor z = Stream(2).normal({6, 3});
  z[0][0].fill_(kMissing);
  z[2][1].fill_(kMissing);
  z[3][0].fill_(kMissing);
  z[4][0].fill_(kMissing);
  z[4][2].fill_(kMissing);
  z[5].fill_(kMissing);
  const at::Tensor c = copula_row_log_density(z, matrix);
  const auto of = [&](int64_t row, const std::vector<int64_t>& columns) {
    const at::Tensor index = at::tensor(columns, at::kLong);
    return copula_row_log_density(z[row].index_select(0, index).unsqueeze(0),
                                  matrix.index_select(0, index).index_select(1, index))
        .item<double>();
  };
  EXPECT_NEAR(c[0].item<double>(), of(0, {1, 2}), 1e-12);
  EXPECT_NEAR(c[1].item<double>(), of(1, {0, 1, 2}), 1e-12);
  EXPECT_NEAR(c[2].item<double>(), of(2, {0, 2}), 1e-12);
  EXPECT_NEAR(c[3].item<double>(), of(3, {1, 2}), 1e-12);
  EXPECT_EQ(c[4].item<double>(), 0);
  EXPECT_EQ(c[5].item<double>(), 0);
  EXPECT_NE(c[0].item<double>(), c[3].item<double>());
  EXPECT_EQ(copula_row_log_density(z.narrow(0, 0, 0), matrix).numel(), 0);
}

TEST(Copula, OfUncorrelatedTargetsIsOne) {
  const at::Tensor c = copula_row_log_density(Stream(3).normal({20, 4}), at::eye(4, at::kDouble));
  EXPECT_LT(c.abs().max().item<double>(), 1e-13);
}

TEST(Copula, IsFiniteWhereATargetHasNoDensity) {
  const double infinite = std::numeric_limits<double>::infinity();
  const at::Tensor z = row({infinite, -1e6, kFarthestNormalScore, -kFarthestNormalScore}).view({2, 2});
  const at::Tensor c = copula_row_log_density(z, equicorrelated(2, 0.5));
  EXPECT_TRUE(std::isfinite(c[0].item<double>()));
  EXPECT_DOUBLE_EQ(c[0].item<double>(), c[1].item<double>());
}

TEST(Copula, RefusesWhatIsNoCorrelation) {
  const at::Tensor z = Stream(4).normal({3, 2});
  EXPECT_THROW(copula_row_log_density(z, equicorrelated(3, 0.5)), std::invalid_argument);
  EXPECT_THROW(copula_row_log_density(z, 2 * equicorrelated(2, 0.5)), std::invalid_argument);
  EXPECT_THROW(copula_row_log_density(z, row({1, 0.5, 0.4, 1}).view({2, 2})), std::invalid_argument);
  EXPECT_THROW(copula_row_log_density(z, equicorrelated(2, 1.5)), NumericalError);
  EXPECT_THROW(copula_scores(equicorrelated(2, 0.5), -1, 3, Stream(1)), std::invalid_argument);
}

TEST(CopulaScores, HaveTheCorrelation) {
  const at::Tensor matrix = three_correlations(0.8, -0.4, 0.1);
  const at::Tensor z = copula_scores(matrix, 100, 1000, Stream(5)).view({-1, 3});
  const at::Tensor second = at::matmul(z.t(), z) / static_cast<double>(z.size(0));
  // The sd of a product of two scores is at most sqrt(2).
  EXPECT_LT((second - matrix).abs().max().item<double>(), 5 * std::sqrt(2.0 / 1e5));
  EXPECT_LT(z.mean(0).abs().max().item<double>(), 5 / std::sqrt(1e5));
}

TEST(CopulaScores, OfARowDependOnItsIndexAlone) {
  const at::Tensor matrix = three_correlations(0.8, -0.4, 0.1);
  const at::Tensor few = copula_scores(matrix, 5, 10, Stream(6)),
                   many = copula_scores(matrix, 40, 25, Stream(6));
  EXPECT_TRUE(at::equal(few, many.narrow(0, 0, 10).narrow(1, 0, 5)));
  EXPECT_FALSE(at::equal(few.select(1, 0), few.select(1, 1)));
  EXPECT_FALSE(at::equal(few, copula_scores(matrix, 5, 10, Stream(7))));
}

}  // namespace
}  // namespace slimbayes
