#include "slimbayes/answers/joint/box_probability.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/storage/error.h"
#include "tests/answers/joint/correlations.h"
#include "tests/answers/joint/one_factor.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double cdf_at(double z) { return student_cdf(z, kUnbounded); }

at::Tensor every_end(int64_t k, double x) { return at::full({1, k}, x, at::kDouble); }

TEST(BoxProbability, IsTheCdfOfOneTargetAndTheProductOfUncorrelatedOnes) {
  const at::Tensor lower = row({-kUnbounded, -1, 0.3, 2}).view({4, 1}),
                   upper = row({0.5, 1, 0.3, kUnbounded}).view({4, 1});
  const at::Tensor one = box_probability(lower, upper, at::eye(1, at::kDouble));
  const at::Tensor expected = row({cdf_at(0.5), cdf_at(1) - cdf_at(-1), 0, cdf_at(-2)});
  EXPECT_LT((one - expected).abs().max().item<double>(), 1e-15);
  const at::Tensor product = box_probability(lower.view({1, 4}), every_end(4, 3), at::eye(4, at::kDouble));
  const double of_all =
      cdf_at(3) * (cdf_at(3) - cdf_at(-1)) * (cdf_at(3) - cdf_at(0.3)) * (cdf_at(3) - cdf_at(2));
  EXPECT_NEAR(product.item<double>(), of_all, 1e-15);
}

TEST(BoxProbability, OfAnOrthantHasAClosedForm) {
  for (const double rho : {-0.95, -0.5, 0.2, 0.7, 0.95}) {
    const double expected = 0.25 + std::asin(rho) / (2 * std::numbers::pi);
    const at::Tensor zero = every_end(2, 0), end = every_end(2, kUnbounded);
    EXPECT_NEAR(box_probability(zero, end, equicorrelated(2, rho)).item<double>(), expected, 2e-4) << rho;
    EXPECT_NEAR(box_probability(zero, end, equicorrelated(2, rho), BoxLattice::fine).item<double>(), expected,
                1e-5)
        << rho;
  }
  const double three = 0.125 + (std::asin(0.5) + std::asin(-0.3) + std::asin(0.2)) / (4 * std::numbers::pi);
  EXPECT_NEAR(box_probability(every_end(3, -kUnbounded), every_end(3, 0), three_correlations(0.5, -0.3, 0.2))
                  .item<double>(),
              three, 1e-4);
}

TEST(BoxProbability, HasTheDocumentedAccuracy) {
  struct Case {
    std::vector<double> loading;
    double rows, fine;  // the largest errors that the header states
  };
  for (const Case& one : std::vector<Case>{{{0.9, -0.5, 0.7}, 1e-4, 1e-6},
                                           {{0.8, 0.8, 0.8, 0.8, 0.8}, 6e-4, 4e-5},
                                           {{-0.9, -0.6, -0.3, 0.1, 0.2, 0.5, 0.7, 0.9}, 2e-3, 2e-4}}) {
    const auto k = static_cast<int64_t>(one.loading.size());
    const at::Tensor matrix = one_factor_correlation(one.loading);
    for (const double c : {0.8, 1.5, 2.5}) {
      const double exact = one_factor_square(one.loading, c);
      const at::Tensor lower = every_end(k, -c), upper = every_end(k, c);
      EXPECT_NEAR(box_probability(lower, upper, matrix).item<double>(), exact, one.rows) << k << " " << c;
      EXPECT_NEAR(box_probability(lower, upper, matrix, BoxLattice::fine).item<double>(), exact, one.fine)
          << k << " " << c;
    }
  }
}

TEST(BoxProbability, LeavesOutATargetWithoutBounds) {
  const at::Tensor lower = row({-1, -kUnbounded, -0.5}).view({1, 3}),
                   upper = row({0.7, kUnbounded, 2}).view({1, 3});
  const at::Tensor all = three_correlations(0.5, -0.6, 0.3), pair = equicorrelated(2, -0.6);
  const at::Tensor index = at::tensor({0, 2}, at::kLong);
  EXPECT_NEAR(
      box_probability(lower, upper, all, BoxLattice::fine).item<double>(),
      box_probability(lower.index_select(1, index), upper.index_select(1, index), pair, BoxLattice::fine)
          .item<double>(),
      1e-5);
}

TEST(BoxProbability, OfARowIsThatOfTheRowAlone) {
  const at::Tensor lower = Stream(1).normal({50, 4}) - 1, upper = lower + Stream(2).uniform({50, 4}) * 3;
  const at::Tensor matrix = equicorrelated(4, 0.6), all = box_probability(lower, upper, matrix);
  for (const int64_t i : {0, 7, 8, 49}) {
    EXPECT_NEAR(box_probability(lower.narrow(0, i, 1), upper.narrow(0, i, 1), matrix).item<double>(),
                all[i].item<double>(), 1e-14);
  }
  EXPECT_EQ(box_probability(lower.narrow(0, 0, 0), upper.narrow(0, 0, 0), matrix).numel(), 0);
}

TEST(BoxProbability, IsFiniteInTheTails) {
  const at::Tensor matrix = equicorrelated(3, 0.999);
  const at::Tensor lower = at::cat({every_end(3, 9), every_end(3, -kUnbounded), every_end(3, -40)}),
                   upper = at::cat({every_end(3, 50), every_end(3, -9), every_end(3, 40)});
  const at::Tensor p = box_probability(lower, upper, matrix);
  EXPECT_NEAR(p[0].item<double>(), 0, 1e-16);
  EXPECT_NEAR(p[1].item<double>(), 0, 1e-16);
  EXPECT_NEAR(p[2].item<double>(), 1, 1e-14);
}

TEST(BoxProbability, RefusesBoundsThatAreNone) {
  const at::Tensor matrix = equicorrelated(2, 0.5);
  EXPECT_THROW(box_probability(every_end(2, 1), every_end(2, 0), matrix), std::invalid_argument);
  EXPECT_THROW(box_probability(every_end(2, std::nan("")), every_end(2, 0), matrix), std::invalid_argument);
  EXPECT_THROW(box_probability(every_end(3, 0), every_end(2, 1), matrix), std::invalid_argument);
  EXPECT_THROW(box_probability(every_end(2, 0), every_end(2, 1), equicorrelated(2, -1.2)), NumericalError);
}

}  // namespace
}  // namespace slimbayes
