#include "slimbayes/method/laplace_posterior.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

struct LogitRows {
  at::Tensor features, logits;
};

LogitRows logit_rows(int64_t n, int64_t r, int64_t k, uint64_t seed) {
  const Stream s(seed);
  const at::Tensor phi = s.split("phi").normal({n, r});
  return {phi, phi.mm(0.8 * s.split("w").normal({r, k}))};
}

GaussNewton matrix_of(const LogitRows& rows, bool full) {
  return with_rows(gauss_newton(rows.logits.size(1), rows.features.size(1), full), rows.features, rows.logits,
                   1);
}

at::Tensor kronecker(const GaussNewton& h) {
  return at::kron(h.classes, h.features) / static_cast<double>(h.n);
}

/// Returns (I (x) phi)^T (H + I / s^2)^-1 (I (x) phi) of each row, dense. [b, k, k]
at::Tensor dense_covariance(const at::Tensor& h, const at::Tensor& phi, int64_t k, double sd) {
  const at::Tensor inverse = at::linalg_inv(h + at::eye(h.size(0), at::kDouble) / (sd * sd));
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < phi.size(0); ++i) {
    const at::Tensor j = at::kron(at::eye(k, at::kDouble), phi[i].unsqueeze(0));
    all.push_back(j.mm(inverse).mm(j.t()));
  }
  return at::stack(all);
}

TEST(Laplace, TheMatrixIsTheHessianOfTheCrossEntropy) {
  constexpr int64_t n = 40, r = 3, k = 4;
  const LogitRows rows = logit_rows(n, r, k, 1);
  const at::Tensor w = std::get<0>(at::linalg_lstsq(rows.features, rows.logits)).t();  // [k, r]
  const at::Tensor y = Stream(2).uniform({n}).mul(k).floor().to(at::kLong);
  // The gradient in W, class by class, at weights moved by `step` in coordinate i.
  const auto gradient = [&](int64_t i, double step) {
    at::Tensor moved = w.clone().flatten();
    moved[i] += step;
    const at::Tensor p = at::softmax(rows.features.mm(moved.reshape({k, r}).t()), 1);
    return (p - at::one_hot(y, k)).t().mm(rows.features).flatten();
  };
  const at::Tensor h = matrix_of(rows, true).full;
  for (int64_t i = 0; i < k * r; ++i) {
    const at::Tensor column = (gradient(i, 1e-5) - gradient(i, -1e-5)) / 2e-5;
    EXPECT_TRUE(at::allclose(h.select(1, i), column, 1e-6, 1e-6)) << i;
  }
}

TEST(Laplace, OneLogitIsTheBernoulliHessian) {
  const LogitRows rows = logit_rows(30, 3, 1, 3);
  const at::Tensor p = at::sigmoid(rows.logits), h = matrix_of(rows, true).full;
  EXPECT_TRUE(at::allclose(h, (rows.features * p * (1 - p)).t().mm(rows.features), 1e-12, 1e-12));
}

TEST(Laplace, CovariancesAreTheDenseOnes) {
  const LogitRows rows = logit_rows(60, 5, 3, 4), others = logit_rows(7, 5, 3, 5);
  for (const bool full : {true, false}) {
    const GaussNewton h = matrix_of(rows, full);
    const at::Tensor dense = full ? h.full : kronecker(h);
    const at::Tensor expected = dense_covariance(dense, others.features, 3, 0.7);
    const at::Tensor found = logit_covariance(laplace_posterior(h, 0.7), others.features, 3);
    EXPECT_TRUE(at::allclose(found, expected, 1e-9, 1e-12)) << full;
    EXPECT_TRUE(at::allclose(eigenvalues(h).sum(), dense.diagonal().sum(), 1e-10, 1e-12)) << full;
    const at::Tensor identity = at::eye(dense.size(0), at::kDouble);
    const double expected_evidence =
        -12.5 - 0.5 * 3.0 / 0.49 -
        0.5 * std::get<1>(at::linalg_slogdet(identity + 0.49 * dense)).item<double>();
    EXPECT_NEAR(laplace_evidence(-12.5, 3.0, eigenvalues(h), 0.7), expected_evidence, 1e-9) << full;
  }
}

TEST(Laplace, RowsAreAddedRemovedAndMerged) {
  const LogitRows rows = logit_rows(50, 4, 3, 6);
  const auto part = [&](int64_t from, int64_t to) {
    return LogitRows{rows.features.slice(0, from, to), rows.logits.slice(0, from, to)};
  };
  for (const bool full : {true, false}) {
    const GaussNewton all = matrix_of(rows, full), first = matrix_of(part(0, 30), full);
    const GaussNewton both = merged(first, matrix_of(part(30, 50), full));
    const GaussNewton back = with_rows(all, part(30, 50).features, part(30, 50).logits, -1);
    const at::Tensor phi = part(3, 9).features;
    const auto covariance = [&](const GaussNewton& h) {
      return logit_covariance(laplace_posterior(h, 1.3), phi, 3);
    };
    EXPECT_TRUE(at::allclose(covariance(both), covariance(all), 1e-10, 1e-12));
    EXPECT_TRUE(at::allclose(covariance(back), covariance(first), 1e-8, 1e-12));
    EXPECT_EQ(both.n, 50);
    EXPECT_EQ(back.n, 30);
  }
  // Without rows the weights have their prior.
  const at::Tensor phi = part(0, 2).features;
  const at::Tensor prior = logit_covariance(laplace_posterior(gauss_newton(3, 4, true), 1.3), phi, 3);
  const at::Tensor expected = 1.69 * phi.square().sum(1).reshape({2, 1, 1}) * at::eye(3, at::kDouble);
  EXPECT_TRUE(at::allclose(prior, expected, 1e-12, 1e-12));
}

TEST(Laplace, CentredCovariancesLeaveOutACommonShiftAlone) {
  const LogitRows rows = logit_rows(60, 5, 3, 4), others = logit_rows(7, 5, 3, 5);
  const at::Tensor centre = at::eye(3, at::kDouble) - 1.0 / 3;
  for (const bool full : {true, false}) {
    const GaussNewton h = matrix_of(rows, full);
    const auto covariances = [&](double sd) {
      const LaplacePosterior p = laplace_posterior(h, sd);
      return std::pair{logit_covariance(p, others.features, 3),
                       centred_logit_covariance(p, others.features, 3)};
    };
    const auto [c, found] = covariances(2.5);
    EXPECT_TRUE(at::allclose(found, at::matmul(at::matmul(centre, c), centre), 1e-10, 1e-12)) << full;
    // What is left out is the prior variance of the shift.
    const at::Tensor shift = 2.5 * 2.5 * others.features.square().sum(1).reshape({-1, 1, 1}) / 3;
    EXPECT_TRUE(at::allclose(c - found, shift.expand_as(c), 1e-10, 1e-10)) << full;
    // The probabilities do not see it: with the root of either covariance the draws differ by a shift.
    const auto probabilities = [&](const at::Tensor& of) {
      const auto [values, vectors] = at::linalg_eigh(of);
      const at::Tensor root =
          at::matmul(vectors * values.clamp_min(0).sqrt().unsqueeze(1), vectors.transpose(1, 2));
      return std::get<Classes>(SoftmaxLikelihood{Stream(0)}.predictive(others.logits, root)).probabilities;
    };
    EXPECT_TRUE(at::allclose(probabilities(found), probabilities(c), 1e-7, 1e-7)) << full;
    // As the prior widens, the shift's variance grows without bound, and the centred one ends.
    const at::Tensor wide = covariances(1e4).second;
    EXPECT_TRUE(at::allclose(covariances(1e5).second, wide, 1e-4, 0)) << full;
  }
  const GaussNewton one = matrix_of(logit_rows(30, 5, 1, 3), true);
  const LaplacePosterior p = laplace_posterior(one, 2.5);
  EXPECT_TRUE(
      at::equal(centred_logit_covariance(p, others.features, 1), logit_covariance(p, others.features, 1)));
}

TEST(Laplace, RowsThatWereNotAddedAreRefused) {
  const LogitRows rows = logit_rows(20, 4, 2, 7), others = logit_rows(20, 4, 2, 8);
  const at::Tensor features = 3 * others.features.slice(0, 0, 10), logits = others.logits.slice(0, 0, 10);
  const GaussNewton wrong = with_rows(matrix_of(rows, true), features, logits, -1);
  EXPECT_THROW(laplace_posterior(wrong, 10), NumericalError);
  EXPECT_THROW(with_rows(wrong, others.features, others.logits, -1), std::invalid_argument);  // 10 are left
  EXPECT_THROW(with_rows(wrong, rows.features.slice(1, 0, 2), rows.logits, 1), std::invalid_argument);
}

TEST(Laplace, ARowOfWeightTwoIsTwoRows) {
  const LogitRows rows = logit_rows(30, 4, 3, 9);
  const at::Tensor times = 1 + at::arange(30).remainder(3), weight = times.to(at::kDouble);
  const at::Tensor which = at::repeat_interleave(at::arange(30), times);
  const LogitRows copies{rows.features.index_select(0, which), rows.logits.index_select(0, which)};
  for (const bool full : {true, false}) {
    const GaussNewton none = gauss_newton(3, 4, full), b = matrix_of(copies, full);
    const GaussNewton a = with_rows(none, rows.features, rows.logits, 1, weight);
    EXPECT_EQ(a.n, b.n);
    EXPECT_TRUE(at::allclose(a.features, b.features, 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(a.classes, b.classes, 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(eigenvalues(a), eigenvalues(b), 1e-9, 1e-9)) << full;
    const auto covariance = [&](const GaussNewton& h) {
      return logit_covariance(laplace_posterior(h, 0.7), rows.features, 3);
    };
    EXPECT_TRUE(at::allclose(covariance(a), covariance(b), 1e-9, 1e-12)) << full;
    // Weights whose sum rounds leave exactly nothing behind.
    const at::Tensor parts = weight / 7.3, fresh = gauss_newton(3, 4, full).features;
    GaussNewton left = with_rows(gauss_newton(3, 4, full), rows.features, rows.logits, 1, parts);
    for (int64_t i = 29; i >= 0; --i)
      left = with_rows(std::move(left), rows.features.narrow(0, i, 1), rows.logits.narrow(0, i, 1), -1,
                       parts.narrow(0, i, 1));
    EXPECT_EQ(left.n, 0);
    EXPECT_TRUE(at::equal(left.features, fresh));
  }
  const GaussNewton one = with_rows(gauss_newton(3, 4, true), rows.features, rows.logits, 1, weight / 100);
  EXPECT_THROW(with_rows(one, rows.features, rows.logits, -1), std::invalid_argument);  // 0.6 are there
  EXPECT_THROW(with_rows(one, rows.features, rows.logits, 1, weight.narrow(0, 0, 29)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
