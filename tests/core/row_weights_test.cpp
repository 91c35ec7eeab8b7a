// A row of weight w in a linear model, beside w equal rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/core/linear_problem.h"

namespace slimbayes {
namespace {

/// Weights of 1, 2, 3, 1, 2, ... [n]
at::Tensor whole_weights(int64_t n) { return (1 + at::arange(n).remainder(3)).to(at::kDouble); }

LinearRows with_weights(LinearRows rows) {
  rows.weight = whole_weights(rows.y.size(0));
  return rows;
}

/// Returns each row as often as whole_weights() says.
LinearRows repeated(const LinearRows& rows) {
  const int64_t n = rows.y.size(0);
  const at::Tensor which = at::repeat_interleave(at::arange(n), whole_weights(n).to(at::kLong));
  return {rows.features.index_select(0, which), rows.y.index_select(0, which),
          rows.d.defined() ? rows.d.index_select(0, which) : rows.d};
}

LinearRows first_rows(const LinearRows& rows, int64_t n) {
  return {rows.features.narrow(0, 0, n), rows.y.narrow(0, 0, n),
          rows.d.defined() ? rows.d.narrow(0, 0, n) : rows.d,
          rows.weight.defined() ? rows.weight.narrow(0, 0, n) : rows.weight};
}

void expect_same(const LinearPosterior& a, const LinearPosterior& b, const at::Tensor& test) {
  EXPECT_LT(relative(mean(a, test), mean(b, test)), 1e-10);
  EXPECT_LT(relative(epistemic_var(a, test), epistemic_var(b, test)), 1e-10);
  EXPECT_LT(relative(log_evidence(a), log_evidence(b)), 1e-10);
}

TEST(RowWeights, OfWholeNumbersGiveTheStatisticsOfRepeatedRows) {
  for (const bool d : {false, true}) {
    const Problem p = problem(40, 4, 0.5, d, 0, false);
    const LinearStatistics a = statistics(with_weights(p.rows), 1.5), b = statistics(repeated(p.rows), 1.5);
    EXPECT_LT(relative(a.S, b.S), 1e-13);
    EXPECT_LT(relative(a.c, b.c), 1e-13);
    EXPECT_LT(relative(a.ones_phi, b.ones_phi), 1e-12);
    EXPECT_LT(relative(a.yy, b.yy), 1e-13);
    EXPECT_LT(relative(a.ones_y, b.ones_y), 1e-12);
    EXPECT_LT(relative(a.ones_ones, b.ones_ones), 1e-13);
    EXPECT_NEAR(a.log_det_d, b.log_det_d, 1e-12);
    EXPECT_EQ(a.n, b.n);
  }
}

TEST(RowWeights, OfWholeNumbersGiveThePosteriorOfRepeatedRows) {
  for (const bool d : {false, true}) {
    for (const bool fit_mean : {false, true}) {
      const Problem p = problem(40, 5, 0.3, d, 2, fit_mean);
      const LinearRows own = with_weights(p.rows), copies = repeated(p.rows);
      const LinearPosterior a = linear_posterior(statistics(own), p.model),
                            b = linear_posterior(statistics(copies), p.model);
      expect_same(a, b, p.test);
      EXPECT_LT(relative(residual_sum(a, own), residual_sum(b, copies)), 1e-10);
      const EvidenceGradient g = evidence_gradient(a), h = evidence_gradient(b);
      EXPECT_LT(relative(g.log_sigma2, h.log_sigma2), 1e-9);
      const at::Tensor of_own = evidence_surrogate(a, g, own), of_copies = evidence_surrogate(b, h, copies);
      EXPECT_LT(relative(of_own.item<double>(), of_copies.item<double>()), 1e-9);
      EXPECT_LT(relative(log_evidence(a, residual_sum(a, own)), log_evidence(b)), 1e-10);
    }
  }
}

// Two rows beside 20 features turn the factor, twelve rows are a new factorisation.
TEST(RowWeights, AreAddedAndRemoved) {
  for (const bool d : {false, true}) {
    for (const int64_t some : {2, 12}) {
      const Problem p = problem(60, 20, 0.3, d, 2, true), more = problem(some, 20, 0.3, d, 2, true, 7);
      const LinearPosterior all = linear_posterior(statistics(with_weights(p.rows)), p.model);
      const LinearRows own = with_weights(more.rows);
      const LinearPosterior with = added(all, own);
      expect_same(with, linear_posterior(added(all.statistics, repeated(more.rows)), p.model), p.test);
      const LinearPosterior without = removed(with, own);
      EXPECT_LT(relative(mean(without, p.test), mean(all, p.test)), 1e-8);
      EXPECT_LT(relative(epistemic_var(without, p.test), epistemic_var(all, p.test)), 1e-8);
      EXPECT_NEAR(without.statistics.n, all.statistics.n, 1e-10);
    }
  }
}

// Sums of such weights are not exact: what is left of their number is not 0, and must count as 0.
TEST(RowWeights, OfAllRowsRemovedInAnotherOrderLeaveThePrior) {
  const Problem p = problem(30, 4, 0.3, false, 2, false);
  LinearRows own = p.rows;
  own.weight = at::arange(1, 31).to(at::kDouble) / 7.3;
  const LinearPosterior prior = linear_posterior(linear_statistics(4), p.model);
  LinearPosterior left = added(prior, own);
  for (int64_t i = 29; i >= 0; --i)
    left = removed(std::move(left),
                   {own.features.narrow(0, i, 1), own.y.narrow(0, i, 1), {}, own.weight.narrow(0, i, 1)});
  EXPECT_EQ(left.statistics.n, 0);
  EXPECT_TRUE(at::equal(epistemic_var(left, p.test), epistemic_var(prior, p.test)));
}

TEST(RowWeights, AreRefusedUnlessTheyArePositiveNumbersOfRowsThatWereAdded) {
  const Problem p = problem(6, 2, 0.3, false, 0, false);
  const LinearRows own = with_weights(p.rows);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    LinearRows rows = own;
    rows.weight = own.weight.clone();
    rows.weight[3] = wrong;
    EXPECT_THROW(statistics(rows), std::invalid_argument) << wrong;
  }
  LinearRows fewer = own;
  fewer.weight = own.weight.narrow(0, 0, 5);
  EXPECT_THROW(statistics(fewer), std::invalid_argument);
  // Two rows that weigh 3 have been added: less may be removed, and no more.
  const LinearStatistics two = statistics(first_rows(own, 2));
  EXPECT_NO_THROW(removed(two, first_rows(p.rows, 2)));
  EXPECT_THROW(removed(two, first_rows(own, 3)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
