#include "slimbayes/core/linalg.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

at::Tensor positive(int64_t r, uint64_t seed = 1) {
  at::Tensor x = Stream(seed).normal({2 * r, r});
  return at::mm(x.t(), x);
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

std::string message(auto action) {
  try {
    action();
  } catch (const NumericalError& e) {
    return e.what();
  }
  return "";
}

TEST(Linalg, SafeCholeskyHasTheSameFactorWithAndWithoutAGradient) {
  const at::Tensor x = Stream(2).normal({7, 20});
  const at::Tensor singular = at::mm(x.t(), x);
  for (const at::Tensor& a : {positive(1), positive(37), singular}) {
    at::Tensor given = a.clone();
    given.add_(at::ones_like(a).triu(1));  // the upper triangle is not read
    const at::Tensor before = given.clone();
    const Cholesky alone = safe_cholesky(given), with = safe_cholesky(a.clone().requires_grad_(true));
    EXPECT_EQ(alone.jitter, with.jitter);
    EXPECT_EQ(distance(alone.factor, with.factor.detach()), 0);
    EXPECT_TRUE(at::equal(alone.factor, alone.factor.tril()));
    EXPECT_TRUE(at::equal(given, before));
  }
  EXPECT_GT(safe_cholesky(singular).jitter, 0);
  at::Tensor bad = positive(3);
  bad[1][2] = bad[2][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(safe_cholesky(bad), NumericalError);
  EXPECT_THROW(safe_cholesky(-positive(3)), NumericalError);
}

TEST(Linalg, SafeCholeskyAddsNothingToAPositiveDefiniteMatrix) {
  at::Tensor a = positive(20);
  Cholesky c = safe_cholesky(a);
  EXPECT_EQ(c.jitter, 0);
  EXPECT_LT(distance(at::mm(c.factor, c.factor.t()), a), 1e-14);
  EXPECT_TRUE(at::equal(c.factor, c.factor.tril()));
  EXPECT_TRUE(at::equal(safe_cholesky(a.tril()).factor, c.factor));  // the upper triangle is not read
}

TEST(Linalg, SafeCholeskyOfASingularMatrixGetsTheLeastJitter) {
  at::Tensor x = Stream(2).normal({3, 8}), a = at::mm(x.t(), x);
  a = a - 1e-11 * a.diagonal().mean() * at::eye(8, at::kDouble);  // as rounding would make it
  Cholesky c = safe_cholesky(a);
  double scale = a.diagonal().mean().item<double>();
  EXPECT_GT(c.jitter, 9e-12 * scale);
  EXPECT_LT(c.jitter, 2e-10 * scale);
  EXPECT_LT(distance(at::mm(c.factor, c.factor.t()), a), 1e-9);
  EXPECT_THROW(safe_cholesky(a, 0), NumericalError);
}

TEST(Linalg, SafeCholeskyFailuresSaySizePivotAndRemedy) {
  at::Tensor a = at::diag(at::tensor({4.0, 9.0, -3.0}, at::kDouble));
  std::string text = message([&] { safe_cholesky(a); });
  EXPECT_NE(text.find("3 x 3"), std::string::npos) << text;
  EXPECT_NE(text.find("pivot is -3"), std::string::npos) << text;
  EXPECT_NE(text.find("raise the noise variance"), std::string::npos) << text;
  // The failing pivot is the Schur complement 1 - 2 * 2.
  at::Tensor b = at::tensor({1.0, 2.0, 2.0, 1.0}, at::kDouble).view({2, 2});
  EXPECT_NE(message([&] { safe_cholesky(b); }).find("pivot is -3"), std::string::npos);
  EXPECT_THROW(safe_cholesky(at::zeros({4, 4}, at::kDouble)), NumericalError);
}

TEST(Linalg, SafeCholeskyLooksForNanFirst) {
  at::Tensor a = positive(4);
  a[2][1] = std::nan("");
  EXPECT_NE(message([&] { safe_cholesky(a); }).find("1 NaN or infinite"), std::string::npos);
  a[2][1] = HUGE_VAL;
  EXPECT_THROW(safe_cholesky(a), NumericalError);
  EXPECT_THROW(safe_cholesky(at::zeros({2, 3}, at::kDouble)), std::invalid_argument);
}

TEST(Linalg, SafeCholeskyIsDifferentiable) {
  at::Tensor a = positive(5).requires_grad_(true);
  log_det(safe_cholesky(a).factor).backward();
  EXPECT_LT(distance(a.grad(), at::linalg_inv(a.detach())), 1e-11);  // d log|A| / dA = A^-1
}

TEST(Linalg, SolvesAndLogDetAgreeWithDenseOnes) {
  at::Tensor a = positive(12), x = Stream(3).normal({12, 4}), factor = safe_cholesky(a).factor;
  EXPECT_LT(distance(at::mm(factor, solve_lower(factor, x)), x), 1e-13);
  EXPECT_LT(distance(at::mm(a, solve_cholesky(factor, x)), x), 1e-12);
  EXPECT_NEAR(log_det(factor).item<double>(), at::logdet(a).item<double>(), 1e-11);
}

TEST(Linalg, UpdatesAndDowndatesEqualAFreshFactorisation) {
  for (int64_t r : {15, 64, 150}) {  // one block and several
    for (int64_t k : {0, 1, 3, 8, 40}) {
      at::Tensor a = positive(r), x = Stream(4).normal({k, r}), factor = safe_cholesky(a).factor;
      at::Tensor up = cholesky_updated(factor, x), grown = a + at::mm(x.t(), x);
      EXPECT_LT(distance(up, safe_cholesky(grown).factor), 1e-12) << r << " " << k;
      EXPECT_LT(distance(cholesky_downdated(up, x), factor), 1e-10) << r << " " << k;
    }
  }
}

TEST(Linalg, UpdatesLeaveTheirInputsAlone) {
  at::Tensor factor = safe_cholesky(positive(4)).factor, x = Stream(4).normal({2, 4});
  at::Tensor factor_before = factor.clone(), x_before = x.clone();
  cholesky_downdated(cholesky_updated(factor, x), x);
  EXPECT_TRUE(at::equal(factor, factor_before));
  EXPECT_TRUE(at::equal(x, x_before));
}

TEST(Linalg, AMovedFactorIsUpdatedInPlace) {
  for (int64_t k : {2, 20}) {
    at::Tensor factor = safe_cholesky(positive(100)).factor, x = Stream(4).normal({k, 100});
    const at::Tensor copied = cholesky_updated(factor, x);
    const void* elements = factor.data_ptr();
    at::Tensor up = cholesky_updated(std::move(factor), x);
    EXPECT_EQ(up.data_ptr(), elements);
    EXPECT_TRUE(at::equal(up, copied));
    EXPECT_TRUE(at::equal(up, up.tril()));
  }
}

TEST(Linalg, AFactorStoredByRowsGivesTheSame) {
  const at::Tensor factor = safe_cholesky(positive(100)).factor;
  for (int64_t k : {2, 20}) {
    const at::Tensor x = Stream(4).normal({k, 100});
    EXPECT_LT(distance(cholesky_updated(factor.contiguous(), x), cholesky_updated(factor, x)), 1e-13);
  }
}

// 300 rows, almost all that the matrix holds, are removed: its condition number grows from 1 to 1e8.
TEST(Linalg, DowndatesStayAccurateWhereLittleIsLeft) {
  const at::Tensor x = Stream(5).normal({300, 60}), left = at::eye(60, at::kDouble) * 1e-6;
  const at::Tensor a = left + at::mm(x.t(), x);
  at::Tensor factor = safe_cholesky(a).factor;
  for (int64_t low = 0; low < 300; low += 20)
    factor = cholesky_downdated(std::move(factor), x.slice(0, low, low + 20));
  EXPECT_LT((at::mm(factor, factor.t()) - left).abs().max().item<double>(),
            1e-12 * a.abs().max().item<double>());
}

TEST(Linalg, AnImpossibleDowndateIsAnError) {
  at::Tensor factor = at::eye(3, at::kDouble), x = at::tensor({0.5, 1.5, 0.0}, at::kDouble).view({1, 3});
  EXPECT_NE(message([&] { cholesky_downdated(factor, x); }).find("column 1 of a 3 x 3"), std::string::npos);
  const at::Tensor many = Stream(4).normal({10, 3});
  EXPECT_THROW(cholesky_downdated(factor, many), NumericalError);
  EXPECT_THROW(cholesky_updated(factor, at::ones({1, 4}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(cholesky_updated(factor, x * std::nan("")), std::invalid_argument);
}

TEST(Linalg, RoundedVarianceClipsAndCountsOnlyRounding) {
  at::Tensor one = at::ones({}, at::kDouble);
  RoundedVariance v = rounded_variance(at::tensor({1.0, 0.0, -5e-11, -1e-16}, at::kDouble), one);
  EXPECT_TRUE(at::equal(v.var, at::tensor({1.0, 0.0, 0.0, 0.0}, at::kDouble)));
  EXPECT_EQ(v.clipped, 2);
  EXPECT_THROW(rounded_variance(at::tensor({-2e-10}, at::kDouble), one), NumericalError);
  EXPECT_THROW(rounded_variance(at::tensor({std::nan("")}, at::kDouble), one), NumericalError);
  // A row whose own terms overflowed gets NaN; the other rows keep their variances.
  at::Tensor scale = at::tensor({1.0, HUGE_VAL, std::nan("")}, at::kDouble);
  RoundedVariance some = rounded_variance(at::tensor({0.5, std::nan(""), -7.0}, at::kDouble), scale);
  EXPECT_EQ(some.var[0].item<double>(), 0.5);
  EXPECT_EQ(some.var.isnan().sum().item<int64_t>(), 2);
  EXPECT_EQ(rounded_variance(at::tensor({-2e-10}, at::kDouble), 100 * one).clipped, 1);
}

TEST(Spectrum, IsThatOfTheMatrix) {
  const at::Tensor x = Stream(3).normal({4, 6}), a = x.t().mm(x);  // of rank 4
  const Spectrum s = spectrum(a);
  EXPECT_TRUE(at::allclose((s.vectors * s.values).mm(s.vectors.t()), a, 1e-12, 1e-12));
  EXPECT_GE(s.values.min().item<double>(), 0);
  EXPECT_TRUE(at::equal(spectrum(at::zeros({3, 3}, at::kDouble)).values, at::zeros({3}, at::kDouble)));
  EXPECT_THROW(spectrum(a - 0.1 * at::eye(6, at::kDouble)), NumericalError);
  at::Tensor broken = a.clone();
  broken[2][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(spectrum(broken), NumericalError);
  EXPECT_THROW(spectrum(x), std::invalid_argument);
}

// Both ways to compute them: near rows through a matrix product, wide ones through differences.
TEST(Linalg, SquaredDistancesAreThoseOfTheDifferences) {
  for (double spread : {1.0, 1e8, 1e40}) {
    at::Tensor u = spread * Stream(1).normal({5, 3}), v = spread * Stream(2).normal({4, 3});
    v[1] = u[2];
    u.set_requires_grad(true);
    at::Tensor direct = (u.unsqueeze(1) - v.unsqueeze(0)).square().sum(-1), found = squared_distances(u, v);
    at::Tensor weights = Stream(3).normal({5, 4});
    EXPECT_LT((found - direct).abs().max().item<double>(), 1e-14 * spread * spread);
    at::Tensor gradients[] = {torch::autograd::grad({(found * weights).sum()}, {u})[0],
                              torch::autograd::grad({(direct * weights).sum()}, {u})[0]};
    EXPECT_LT((gradients[0] - gradients[1]).abs().max().item<double>(), 1e-13 * spread);
    if (spread > 1) {
      EXPECT_EQ(found[2][1].item<double>(), 0);
    }
  }
  // Near pairs of far rows: |u|^2 + |v|^2 - 2 u.v would keep no digit of 3.
  const at::Tensor wide = 1e8 * Stream(1).normal({40, 3});
  EXPECT_LT((squared_distances(wide, wide + 1).diagonal() - 3).abs().max().item<double>(), 1e-6);
  EXPECT_EQ(squared_distances(wide, wide).diagonal().abs().max().item<double>(), 0);
  // Far rows beside near ones: the error is small beside the distance.
  const at::Tensor far = 1e6 * Stream(1).normal({5, 3}), near = Stream(2).normal({4, 3});
  const at::Tensor direct = (far.unsqueeze(1) - near.unsqueeze(0)).square().sum(-1);
  EXPECT_LT((squared_distances(far, near) / direct - 1).abs().max().item<double>(), 1e-12);
  EXPECT_EQ(squared_distances(at::empty({0, 3}, at::kDouble), at::ones({2, 3}, at::kDouble)).size(0), 0);
}

}  // namespace
}  // namespace slimbayes
