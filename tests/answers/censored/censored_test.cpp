#include "slimbayes/answers/censored/censored.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/random.h"
#include "slimbayes/density/truncated.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

constexpr double kOpen = std::numeric_limits<double>::infinity();

double at_row(const at::Tensor& x, int64_t i) { return x[i].item<double>(); }

/// Gaussians with their intervals: exact, one-sided, narrow and far ones.
struct Gaussians {
  at::Tensor mean = row({1.5, 0, 0.5, -2, 0.3, 1, 0, 7, 0.2}), var = row({4, 1, 0.25, 9, 2, 1, 0.5, 2, 3});
  Censored target{row({-kOpen, 40, 0.25, 70, 1.25, 1.5, -kOpen, -30, 3}),
                  row({0.25, kOpen, 1.75, 71, 1.25, 1.5009765625, kOpen, -20, kOpen})};
};

// References by mpmath 1.4.1 with 100 digits, of the first four rows: tests/answers/survival_reference.py.
TEST(CensoredLogProb, MatchesExtendedPrecision) {
  const Gaussians g;
  const at::Tensor mean = g.mean.clone().requires_grad_(true), var = g.var.clone().requires_grad_(true);
  const at::Tensor log_prob = censored_log_prob(mean, var, g.target);
  log_prob.sum().backward();
  const auto agree = [](const at::Tensor& got, const at::Tensor& reference) {
    const at::Tensor error = (got.detach().slice(0, 0, reference.size(0)) / reference - 1).abs();
    EXPECT_LT(error.max().item<double>(), 1e-12);
  };
  agree(log_prob, row({-1.3243133737528388, -804.60844201375379, -0.37796746362042687, -292.09903405387108}));
  agree(mean.grad(), row({-0.61687748526027991, 40.024968847207264, 0.976390109602709, 8.0138063470263068}));
  agree(var.grad(), row({0.096387107071918736, 800.49937694414527, -0.64167097432077752, 32.05508406250121}));
  agree(truncated_mean(g.mean, g.var, g.target),
        row({-0.96750994104111965, 40.024968847207264, 0.74409752740067725, 70.124257123236761}));
}

TEST(CensoredLogProb, IsTheTruncatedNormalOfNumbers) {
  const at::Tensor left = Stream(1).normal({400}) * 15, size = at::exp(Stream(2).normal({400}) * 3 - 1);
  const Censored target{left, at::where(size > 5, kOpen, left + size)};
  const at::Tensor mean = at::zeros({400}, at::kDouble).requires_grad_(true),
                   var = at::ones({400}, at::kDouble).requires_grad_(true);
  const at::Tensor log_prob = censored_log_prob(mean, var, target);
  log_prob.sum().backward();
  for (int64_t i = 0; i < 400; ++i) {
    const double a = at_row(target.lower, i), b = at_row(target.upper, i);
    const TruncatedNormal own = truncated_normal(a, b, b - a);
    EXPECT_NEAR(at_row(log_prob, i), own.log_prob, 1e-12 * (1 + std::abs(own.log_prob))) << a << " " << b;
    EXPECT_NEAR(at_row(mean.grad(), i), own.mean, 1e-12 * (1 + std::abs(own.mean))) << a << " " << b;
    EXPECT_NEAR(2 * at_row(var.grad(), i), own.excess, 1e-12 * (1 + std::abs(own.excess))) << a << " " << b;
  }
}

TEST(CensoredLogProb, GradientsAreFiniteDifferences) {
  const Gaussians g;
  const at::Tensor mean = g.mean.clone().requires_grad_(true), var = g.var.clone().requires_grad_(true);
  censored_log_prob(mean, var, g.target).sum().backward();
  // Rows are independent, so that one difference serves all.
  const double step = 1e-5;
  const at::Tensor along_mean = (censored_log_prob(g.mean + step, g.var, g.target) -
                                 censored_log_prob(g.mean - step, g.var, g.target)) /
                                (2 * step);
  const at::Tensor along_var = (censored_log_prob(g.mean, g.var + step, g.target) -
                                censored_log_prob(g.mean, g.var - step, g.target)) /
                               (2 * step);
  EXPECT_TRUE(at::allclose(mean.grad(), along_mean, 1e-6, 1e-7)) << mean.grad() << along_mean;
  EXPECT_TRUE(at::allclose(var.grad(), along_var, 1e-6, 1e-7)) << var.grad() << along_var;
}

TEST(CensoredLogProb, ExactRowsHaveTheDensityAndNarrowOnesTendToIt) {
  const at::Tensor y = row({0.5, -3, 12}), m = row({0, 1, 2}), v = row({1, 0.5, 4});
  const at::Tensor density = -regression_row_nll(Regression{m, v, at::zeros_like(v)}, y);
  const double width = 0x1p-34;
  const auto grads = [&](const Censored& target, const at::Tensor& expected) {
    const at::Tensor mean = m.clone().requires_grad_(true), var = v.clone().requires_grad_(true);
    const at::Tensor log_prob = censored_log_prob(mean, var, target);
    log_prob.sum().backward();
    EXPECT_TRUE(at::allclose(log_prob.detach(), expected, 1e-9, 1e-9));
    return at::cat({mean.grad(), var.grad()});
  };
  const at::Tensor of_point = grads({y, y}, density);
  const at::Tensor of_interval = grads({y, y + width}, density + std::log(width));
  const at::Tensor z = (y - m) / v.sqrt(), closed = at::cat({z / v.sqrt(), (z.square() - 1) / (2 * v)});
  EXPECT_TRUE(at::allclose(of_point, closed, 1e-13));
  EXPECT_TRUE(at::allclose(of_interval, closed, 1e-8));
}

TEST(CensoredLogProb, AnUnknownTargetSaysNothing) {
  const at::Tensor mean = row({3}).requires_grad_(true), var = row({2}).requires_grad_(true);
  const Censored target{row({-kOpen}), row({kOpen})};
  const at::Tensor log_prob = censored_log_prob(mean, var, target);
  log_prob.sum().backward();
  EXPECT_EQ(log_prob.item<double>(), 0);
  EXPECT_EQ(mean.grad().item<double>(), 0);
  EXPECT_EQ(var.grad().item<double>(), 0);
  EXPECT_EQ(truncated_mean(row({3}), row({2}), target).item<double>(), 3);
}

TEST(CensoredLogProb, KeepsTheTypeOfTheGradients) {
  const at::Tensor mean = at::zeros({1}).requires_grad_(true), var = at::ones({1}).requires_grad_(true);
  const at::Tensor log_prob = censored_log_prob(mean, var, {row({1}), row({kOpen})});
  EXPECT_EQ(log_prob.scalar_type(), at::kDouble);
  log_prob.sum().backward();
  EXPECT_EQ(mean.grad().scalar_type(), at::kFloat);
  EXPECT_NEAR(mean.grad().item<double>(), 1.5251352761609812, 1e-6);  // phi(1) / Phi(-1)
  EXPECT_THROW(censored_log_prob(row({0, 1}), row({1, 1}), {row({1}), row({2})}), std::invalid_argument);
}

TEST(TruncatedMean, LiesInTheInterval) {
  const Gaussians g;
  const at::Tensor filled = truncated_mean(g.mean, g.var, g.target);
  EXPECT_TRUE((filled >= g.target.lower).all().item<bool>());
  EXPECT_TRUE((filled <= g.target.upper).all().item<bool>());
  EXPECT_EQ(at_row(filled, 4), 1.25);  // exact
  const int64_t n = 400000;            // the mean of draws in the interval
  const at::Tensor y = 0.5 + 0.5 * Stream(3).normal({n});
  const at::Tensor inside = y.masked_select((y > 0.25).logical_and(y < 1.75));
  EXPECT_NEAR(at_row(filled, 2), inside.mean().item<double>(), 0.003);
}

TEST(CensoredNll, OfAGaussianIsTheLogLikelihood) {
  const Gaussians g;
  const Regression p{g.mean, 0.25 * g.var, 0.75 * g.var};
  EXPECT_TRUE(
      at::allclose(censored_row_nll(p, g.target), -censored_log_prob(g.mean, g.var, g.target), 1e-12, 1e-14));
  const at::Tensor weight = row({1, 2, 1, 1, 3, 1, 1, 1, 1});
  const at::Tensor rows = censored_row_nll(p, g.target);
  EXPECT_NEAR(censored_nll(p, g.target, weight), ((rows * weight).sum() / weight.sum()).item<double>(),
              1e-12);
}

/// A Gaussian, a Student-t distribution and a log-normal one above .5, for n equal rows.
Regression mixed_law(int64_t n) {
  const auto same = [n](double x) { return at::full({n}, x, at::kDouble); };
  return mixed({{0.3, same(1), same(0.15), same(0.10)},
                {0.5, same(-1), same(1.5), same(0.5), 4},
                {0.2, same(0.2), same(0.4), same(0.09), kOpen, TargetWarp::log, 0.5}});
}

TEST(CensoredNll, OfAMixtureAgreesWithItsCdfAndItsDensity) {
  const at::Tensor y = row({-30, -1, 0.8, 6}), open = at::full({4}, kOpen, at::kDouble);
  const Regression p = mixed_law(4);
  const at::Tensor below = log_probability_between(p, -open, y), above = log_probability_between(p, y, open);
  EXPECT_TRUE(at::allclose(below.exp() + above.exp(), at::ones_like(y), 1e-13));
  EXPECT_TRUE(at::allclose(below, at::special_log_ndtr(normal_score(p, y)), 1e-9));
  EXPECT_TRUE(at::allclose(log_probability_between(p, -open, open), at::zeros_like(y), 0, 1e-14));
  const double width = 0x1p-30;
  EXPECT_TRUE(at::allclose(log_probability_between(p, y, y + width) - std::log(width),
                           -regression_row_nll(p, y), 1e-7));
  const Censored target{y, row({-30, kOpen, 0.8, 7})};
  const at::Tensor nll = censored_row_nll(p, target), density = regression_row_nll(p, y);
  EXPECT_EQ(at_row(nll, 0), at_row(density, 0));
  EXPECT_EQ(at_row(nll, 1), -at_row(above, 1));
  EXPECT_EQ(at_row(nll, 2), at_row(density, 2));
}

TEST(CensoredNll, IsInfiniteWhereTheDensityHasNoPartOfTheInterval) {
  const Regression p = mixed({{1, row({0, 0}), row({1, 1}), row({0, 0}), kOpen, TargetWarp::log, 2}});
  const at::Tensor nll = censored_row_nll(p, {row({-kOpen, -kOpen}), row({1, 3})});
  EXPECT_EQ(at_row(nll, 0), kOpen);
  EXPECT_NEAR(at_row(nll, 1), std::log(2), 1e-14);  // log(3 - 2) = 0 is the median of the logarithm
}

TEST(RightCensored, HasTheTimeOfAnEventAndIsOpenAbove) {
  const Censored target = right_censored(row({2, 5}), at::tensor({1, 0}));
  EXPECT_TRUE(at::equal(target.lower, row({2, 5})));
  EXPECT_TRUE(at::equal(target.upper, row({2, kOpen})));
  EXPECT_TRUE(at::equal(target.exact(), at::tensor({1, 0}).to(at::kBool)));
  EXPECT_THROW(right_censored(row({2, 5}), at::tensor({1, 2})), std::invalid_argument);
  EXPECT_THROW(right_censored(row({2, kOpen}), at::tensor({1, 0})), std::invalid_argument);
  EXPECT_THROW(right_censored(row({2, 5}), at::tensor({1})), std::invalid_argument);
}

TEST(CheckedCensored, RefusesWhatIsNoInterval) {
  EXPECT_THROW(checked_censored({row({2}), row({1})}, "f"), std::invalid_argument);
  EXPECT_THROW(checked_censored({row({std::nan("")}), row({1})}, "f"), std::invalid_argument);
  EXPECT_THROW(checked_censored({row({kOpen}), row({kOpen})}, "f"), std::invalid_argument);
  EXPECT_THROW(checked_censored({row({-kOpen}), row({-kOpen})}, "f"), std::invalid_argument);
  EXPECT_THROW(checked_censored({row({}), row({})}, "f"), std::invalid_argument);
  EXPECT_THROW(checked_censored({row({1, 2}), row({3})}, "f"), std::invalid_argument);
  EXPECT_EQ(checked_censored({at::zeros({2}), at::ones({2})}, "f").lower.scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace slimbayes
