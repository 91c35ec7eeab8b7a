#include "slimbayes/answers/joint/error_correlation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/normal_scores.h"
#include "slimbayes/core/random.h"
#include "tests/answers/joint/correlations.h"

namespace slimbayes {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

at::Tensor held_out(const at::Tensor& correlation, int64_t rows, uint64_t seed) {
  return copula_scores(correlation, rows, 1, Stream(seed))[0];
}

double entry(const at::Tensor& matrix, int64_t a, int64_t b) { return matrix[a][b].item<double>(); }

double least_eigenvalue(const at::Tensor& matrix) { return at::linalg_eigvalsh(matrix).min().item<double>(); }

// Schaefer and Strimmer's own formula, with scores standardised by the unbiased sd.
TEST(ErrorCorrelation, HasTheIntensityOfThePaper) {
  const int64_t n = 40, k = 4;
  const at::Tensor z = held_out(equicorrelated(k, 0.4), n, 3);
  const at::Tensor x = (z - z.mean(0)) / z.std(0);
  double variances = 0, squares = 0;
  at::Tensor sample = at::eye(k, at::kDouble);
  for (int64_t a = 0; a < k; ++a) {
    for (int64_t b = 0; b < k; ++b) {
      if (a == b) continue;
      const at::Tensor w = x.select(1, a) * x.select(1, b);
      const double mean = w.mean().item<double>(), r = n / (n - 1.0) * mean;
      variances += n / std::pow(n - 1.0, 3) * (w - mean).square().sum().item<double>();
      squares += r * r;
      sample[a][b].fill_(r);
    }
  }
  const ErrorCorrelation c = error_correlation(z);
  EXPECT_NEAR(c.shrinkage, variances / squares, 1e-12);
  EXPECT_GT(c.shrinkage, 0.02);
  EXPECT_LT(c.shrinkage, 0.9);
  const at::Tensor expected = ((1 - c.shrinkage) * sample).fill_diagonal_(1);
  EXPECT_TRUE(at::allclose(c.matrix, expected, 0, 1e-12));
  EXPECT_EQ(c.rows, n);
  EXPECT_EQ(c.far, 0);
}

TEST(ErrorCorrelation, ShrinksIndependentTargetsWhollyAndStrongCorrelationsHardly) {
  const ErrorCorrelation apart = error_correlation(held_out(at::eye(40, at::kDouble), 2000, 5));
  EXPECT_GT(apart.shrinkage, 0.8);
  EXPECT_LT((apart.matrix - at::eye(40, at::kDouble)).abs().max().item<double>(), 0.03);
  const ErrorCorrelation strong = error_correlation(held_out(equicorrelated(3, 0.8), 5000, 6));
  EXPECT_LT(strong.shrinkage, 0.002);
  EXPECT_TRUE(at::allclose(strong.matrix, equicorrelated(3, 0.8), 0, 0.03));
}

TEST(ErrorCorrelation, TakesThePairsOfKnownTargets) {
  const at::Tensor z = held_out(three_correlations(0.7, -0.5, 0.1), 600, 7);
  z.select(1, 0).narrow(0, 0, 200).fill_(kUnknown);
  z.select(1, 1).narrow(0, 200, 100).fill_(kUnknown);
  z.select(1, 2).narrow(0, 250, 100).fill_(kUnknown);
  const ErrorCorrelation c = error_correlation(z);
  EXPECT_EQ(c.rows, 550);  // from row 250 to 300 the second and the third are unknown
  const auto of_pair = [&](int64_t a, int64_t b) {
    const at::Tensor both = z.index_select(1, at::tensor({a, b}, at::kLong));
    const at::Tensor known = both.index_select(0, both.isnan().any(1).logical_not().nonzero().squeeze(1));
    return at::corrcoef(known.t())[0][1].item<double>();
  };
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      EXPECT_NEAR(entry(c.matrix, a, b), (1 - c.shrinkage) * of_pair(a, b), 1e-12);
      EXPECT_EQ(entry(c.matrix, a, b), entry(c.matrix, b, a));
    }
  }
}

TEST(ErrorCorrelation, OfAPairWithFewRowsIsZero) {
  const at::Tensor z = held_out(equicorrelated(3, 0.9), 100, 8);
  z.select(1, 2).narrow(0, kLeastPairRows - 1, 100 - kLeastPairRows + 1).fill_(kUnknown);
  const ErrorCorrelation few = error_correlation(z);
  EXPECT_EQ(entry(few.matrix, 0, 2), 0);
  EXPECT_EQ(entry(few.matrix, 1, 2), 0);
  EXPECT_GT(entry(few.matrix, 0, 1), 0.7);
  const ErrorCorrelation none = error_correlation(z.narrow(0, 0, kLeastPairRows - 1));
  EXPECT_TRUE(at::equal(none.matrix, at::eye(3, at::kDouble)));
  EXPECT_EQ(none.shrinkage, 1);
  EXPECT_TRUE(at::equal(error_correlation(z.narrow(1, 0, 1)).matrix, at::ones({1, 1}, at::kDouble)));
  EXPECT_TRUE(at::equal(error_correlation(z.narrow(0, 0, 0)).matrix, at::eye(3, at::kDouble)));
  const at::Tensor constant = z.narrow(1, 0, 2).clone();
  constant.select(1, 1).fill_(0.3);  // has no correlation
  EXPECT_TRUE(at::equal(error_correlation(constant).matrix, at::eye(2, at::kDouble)));
}

TEST(ErrorCorrelation, IsPositiveDefiniteWherePairsContradictEachOther) {
  // Each pair is known in rows of its own, with correlations near .95, .95 and -.95.
  const int64_t n = 3000;
  const double sign[3] = {0.95, 0.95, -0.95};
  at::Tensor z = at::full({n, 3}, kUnknown, at::kDouble);
  at::Tensor pairwise = at::eye(3, at::kDouble);
  for (int64_t pair = 0; pair < 3; ++pair) {
    const int64_t a = pair == 2 ? 1 : 0, b = pair == 0 ? 1 : 2;
    const at::Tensor part = held_out(equicorrelated(2, sign[pair]), n / 3, 20 + static_cast<uint64_t>(pair));
    z.narrow(0, pair * n / 3, n / 3).select(1, a).copy_(part.select(1, 0));
    z.narrow(0, pair * n / 3, n / 3).select(1, b).copy_(part.select(1, 1));
    const at::Tensor r = at::corrcoef(part.t())[0][1];
    pairwise[a][b].copy_(r);
    pairwise[b][a].copy_(r);
  }
  EXPECT_LT(least_eigenvalue(pairwise), -0.5);
  const ErrorCorrelation c = error_correlation(z);
  EXPECT_NEAR(least_eigenvalue(c.matrix), kLeastCorrelationEigenvalue, 1e-12);
  EXPECT_GT(c.shrinkage, 0.4);
  EXPECT_LT(c.shrinkage, 0.6);
  EXPECT_NEAR(entry(c.matrix, 0, 1), (1 - c.shrinkage) * entry(pairwise, 0, 1), 1e-12);
}

TEST(ErrorCorrelation, OfEqualTargetsIsPositiveDefinite) {
  const at::Tensor one = held_out(at::eye(1, at::kDouble), 20000, 9);
  const ErrorCorrelation c = error_correlation(at::cat({one, one}, 1));
  EXPECT_NEAR(entry(c.matrix, 0, 1), 1 - kLeastCorrelationEigenvalue, 1e-12);
}

TEST(ErrorCorrelation, WeighsRows) {
  const at::Tensor z =
      at::cat({held_out(equicorrelated(2, 0.9), 300, 10), held_out(equicorrelated(2, -0.9), 300, 11)});
  const at::Tensor weight = at::cat({at::ones({300}, at::kDouble), at::zeros({300}, at::kDouble)});
  const ErrorCorrelation half = error_correlation(z, weight), first = error_correlation(z.narrow(0, 0, 300));
  EXPECT_TRUE(at::equal(half.matrix, first.matrix));
  EXPECT_EQ(half.rows, 300);
  // The scale of the weights does not matter; their differences do.
  const at::Tensor uneven = weight * 3 + 1;
  const ErrorCorrelation a = error_correlation(z, uneven), b = error_correlation(z, 10 * uneven);
  EXPECT_NEAR(a.shrinkage, b.shrinkage, 1e-12);
  EXPECT_TRUE(at::allclose(a.matrix, b.matrix, 0, 1e-12));
  const double value = entry(a.matrix, 0, 1) / (1 - a.shrinkage);
  EXPECT_NEAR(value,
              at::cov(z.t(), 0, {}, uneven)[0][1].item<double>() /
                  at::cov(z.t(), 0, {}, uneven).diagonal().prod().sqrt().item<double>(),
              1e-12);
  // A row that holds nearly all the weight is one row.
  const at::Tensor single = at::full({600}, 1e-9, at::kDouble);
  single[0].fill_(1);
  EXPECT_EQ(entry(error_correlation(z, single).matrix, 0, 1), 0);
  EXPECT_THROW(error_correlation(z, -weight), std::invalid_argument);
  EXPECT_THROW(error_correlation(z, weight.narrow(0, 0, 5)), std::invalid_argument);
}

TEST(ErrorCorrelation, BoundsScoresOfATailWithoutProbability) {
  const at::Tensor z = held_out(equicorrelated(2, 0.5), 400, 12), far = z.clone(), bound = z.clone();
  far[7][0].fill_(-std::numeric_limits<double>::infinity());
  far[7][1].fill_(-6000);
  bound[7].fill_(-kFarthestNormalScore);
  const ErrorCorrelation a = error_correlation(far), b = error_correlation(bound);
  EXPECT_TRUE(at::equal(a.matrix, b.matrix));
  EXPECT_EQ(a.far, 2);
  EXPECT_EQ(b.far, 0);
  EXPECT_NEAR(entry(a.matrix, 0, 1), entry(error_correlation(z).matrix, 0, 1), 0.25);
}

}  // namespace
}  // namespace slimbayes
