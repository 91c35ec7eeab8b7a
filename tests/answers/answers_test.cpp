#include "slimbayes/answers/answers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/mixture.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

TEST(Mixture, MomentsByHand) {
  Regression p = mixture(
      {Regression{row({1, 5}), row({2, 1}), row({0.5, 0}), 1}, {row({3, 5}), row({4, 3}), row({1.5, 0}), 2}});
  EXPECT_TRUE(at::equal(p.mean, row({2, 5})));
  EXPECT_TRUE(at::equal(p.aleatoric_var, row({3, 2})));
  // Row 0: a mean of 1 plus the variance 1 of the means {1, 3}. Row 1: the parts agree.
  EXPECT_TRUE(at::equal(p.epistemic_var, row({2, 0})));
  EXPECT_EQ(p.zeroed, 3);
}

TEST(Mixture, OfOneOrOfEqualsIsItself) {
  Regression one{row({1, -2}), row({0.3, 2}), row({0.1, 0.7})};
  for (int parts : {1, 4}) {
    Regression p = mixture(std::vector<Regression>(static_cast<size_t>(parts), one));
    EXPECT_TRUE(at::allclose(p.mean, one.mean, 1e-15, 0));
    EXPECT_TRUE(at::allclose(p.aleatoric_var, one.aleatoric_var, 1e-15, 0));
    EXPECT_TRUE(at::allclose(p.epistemic_var, one.epistemic_var, 1e-15, 0));
  }
}

// Compares the mixture's moments with those of draws: each draw takes a random part, then its Gaussian.
TEST(Mixture, TotalMomentsAreThoseOfDraws) {
  constexpr int64_t kDraws = 400000;
  at::Tensor mean = row({-1, 0.5, 2}), var = row({0.2, 1, 0.5});
  std::vector<Regression> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back({mean.narrow(0, i, 1), 0.75 * var.narrow(0, i, 1), 0.25 * var.narrow(0, i, 1)});
  at::Tensor part = (3 * Stream(1).uniform({kDraws})).floor().to(at::kLong);
  at::Tensor draws =
      mean.index_select(0, part) + var.sqrt().index_select(0, part) * Stream(2).normal({kDraws});
  Regression p = mixture(parts);
  EXPECT_NEAR(p.mean.item<double>(), draws.mean().item<double>(), 0.01);
  EXPECT_NEAR(total_var(p).item<double>(), draws.var().item<double>(), 0.02);
}

TEST(Mixture, LargeMeansKeepTheirDisagreement) {
  Regression p = mixture({Regression{row({1e9}), row({1}), row({0})}, {row({1e9 + 1}), row({1}), row({0})}});
  EXPECT_DOUBLE_EQ(p.epistemic_var.item<double>(), 0.25);
}

TEST(Mixture, RefusesNoneAndUnequalParts) {
  EXPECT_THROW(mixture(std::vector<Regression>{}), std::invalid_argument);
  EXPECT_THROW(mixture({Regression{row({1}), row({1}), row({1})}, {row({1, 2}), row({1, 2}), row({1, 2})}}),
               std::invalid_argument);
}

// Members that err independently of each other with a variance of .05, beside a noise of 1.
TEST(Bagged, HasNoLessThanTheSquaredErrorOfTheMeanAndLessThanTheMixture) {
  constexpr int64_t kRows = 200000, kMembers = 5;
  const at::Tensor zero = at::zeros({kRows}, at::kDouble);
  std::vector<Regression> members;
  for (int64_t k = 0; k < kMembers; ++k)
    members.push_back(
        {std::sqrt(0.05) * Stream(static_cast<uint64_t>(k)).normal({kRows}), zero + 1.05, zero});
  const at::Tensor error = Stream(99).normal({kRows}) - bagged_mixture(members).mean;
  EXPECT_NEAR(error.square().mean().item<double>(), 1.01, 0.016);  // 1 + .05 / 5; five standard errors
  EXPECT_NEAR(total_var(mixture(members)).mean().item<double>(), 1.05 + 0.04, 0.001);
  // v^2 / (v + b) + b = v + b^2 / v + O(b^3), and E[b^2] = .04^2 (1 + 2 / 4)
  EXPECT_NEAR(total_var(bagged_mixture(members)).mean().item<double>(), 1.05 + 0.04 * 0.04 * 1.5 / 1.05,
              0.0005);
}

TEST(Bagged, CountsTheDisagreementOnceWhateverTheParts) {
  for (const auto& [a, e] : {std::pair{0.4, 0.1}, {0.01, 1.0}, {0.0, 1.0}, {1.0, 0.0}})
    for (const double d : {0.0, 0.1, 1.0, 100.0}) {
      const Regression p = bagged_mixture({{row({-d}), row({a}), row({e})}, {row({d}), row({a}), row({e})}});
      const double v = a + e, b = d * d, share = v / (v + b);
      EXPECT_NEAR(p.aleatoric_var.item<double>(), share * a, 1e-12);
      EXPECT_NEAR(p.epistemic_var.item<double>(), share * e + b, 1e-12 * (1 + b));
      EXPECT_GE(total_var(p).item<double>(), std::max(v, b) * (1 - 1e-12));
      EXPECT_LE(total_var(p).item<double>(), (v + b) * (1 + 1e-12));
    }
}

TEST(Mixture, OfClassesAveragesProbabilitiesAndCountsTheDisagreementAsEpistemic) {
  const Classes sure = classes_of_logits(at::tensor({8.0, -8.0}, at::kDouble).reshape({2, 1}));
  const Classes other = classes_of_logits(at::tensor({-8.0, -8.0}, at::kDouble).reshape({2, 1}));
  const auto p = std::get<Classes>(mixture({Predictive(sure), Predictive(other)}));
  EXPECT_NEAR(p.probabilities[0][0].item<double>(), 0.5, 1e-12);
  EXPECT_NEAR(mutual_information(p)[0].item<double>(), std::log(2) - p.expected_entropy[0].item<double>(),
              1e-12);
  EXPECT_NEAR(mutual_information(p)[1].item<double>(), 0, 1e-12);  // the parts agree on this row
}

// Compares the mixture's moments with those of draws: each draw takes a random part, then its log-normal.
TEST(Mixture, OfRatesHasTheMixturesMeanAndVariance) {
  constexpr int64_t kDraws = 1000000;
  const at::Tensor mean_log = row({-0.3, 0.4, 0.1}), var_log = row({0.05, 0.1, 0.2});
  std::vector<Predictive> parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(Counts{{mean_log.narrow(0, i, 1), var_log.narrow(0, i, 1)}});
  at::Tensor part = (3 * Stream(1).uniform({kDraws})).floor().to(at::kLong);
  at::Tensor draws = at::exp(mean_log.index_select(0, part) +
                             var_log.sqrt().index_select(0, part) * Stream(2).normal({kDraws}));
  const LogNormalRate rate = std::get<Counts>(mixture(parts)).rate;
  EXPECT_NEAR(mean(rate).item<double>(), draws.mean().item<double>(), 5e-3);
  EXPECT_NEAR(var(rate).item<double>(), draws.var().item<double>(), 1e-2);
}

TEST(Mixture, OfEqualRatesIsTheRateEvenWhereItOverflows) {
  for (double log_mean : {0.5, 900.0, -900.0}) {
    const Intensity one{{row({log_mean}), row({1e-9})}};
    const LogNormalRate rate =
        std::get<Intensity>(mixture({Predictive(one), Predictive(one), Predictive(one)})).rate;
    EXPECT_NEAR(rate.log_mean.item<double>(), log_mean, 1e-12 * std::abs(log_mean));
    EXPECT_NEAR(rate.log_var.item<double>(), 1e-9, 1e-12);
  }
}

TEST(Answers, AreConcatenatedRowByRow) {
  const Predictive a = Regression{row({1}), row({2}), row({3}), 1},
                   b = Regression{row({4, 5}), row({6, 7}), row({8, 9}), 2};
  const auto p = std::get<Regression>(concatenated({a, b}));
  EXPECT_TRUE(at::equal(p.mean, row({1, 4, 5})));
  EXPECT_TRUE(at::equal(p.epistemic_var, row({3, 8, 9})));
  EXPECT_EQ(p.zeroed, 3);
  EXPECT_THROW(concatenated({}), std::invalid_argument);
}

TEST(Answers, NameTheFirstNumberThatIsNotFinite) {
  const Regression p{row({1, HUGE_VAL, 2, 3}), row({1, 1, std::nan(""), 1}), row({1, 1, 1, 1})};
  EXPECT_EQ(non_finite(p), (std::vector<std::string>{"", "mean is inf", "sd is nan", ""}));
  const Interval bounds{row({0, 0, 0, -HUGE_VAL}), row({1, 1, 1, 1})};
  EXPECT_EQ(non_finite(p, bounds)[3], "lower is -inf");
  EXPECT_EQ(non_finite(Counts{{row({1, 800, 1}), row({1, 1, 2000})}}),
            (std::vector<std::string>{"", "mean is inf", "mean is inf"}));
  EXPECT_EQ(non_finite(Classes{at::full({1, 2}, std::nan(""), at::kDouble), row({0}), row({0})})[0],
            "probability is nan");
  EXPECT_TRUE(non_finite(Intensity{{row({}), row({})}}).empty());
  const auto some = std::get<Regression>(take(p, at::tensor(std::vector<int64_t>{3, 0})));
  EXPECT_TRUE(at::equal(some.mean, row({3, 1})));
}

TEST(Answers, AreOfOneTask) {
  const Predictive a = Counts{{row({1}), row({1})}}, b = Intensity{{row({1}), row({1})}};
  EXPECT_EQ(task_of(a), TaskKind::counts);
  EXPECT_EQ(task_of(b), TaskKind::events);
  EXPECT_THROW(mixture({a, b}), std::invalid_argument);
  EXPECT_THROW(concatenated({a, b}), std::invalid_argument);
  EXPECT_EQ(row_count(concatenated({a, a, a})), 3);
}

TEST(Answers, AreBroughtToTheUsersUnits) {
  const auto p = std::get<Regression>(in_units(Regression{row({1}), row({4}), row({9})}, 10, 2));
  EXPECT_EQ(p.mean.item<double>(), 12);
  EXPECT_EQ(p.aleatoric_var.item<double>(), 16);
  const auto rate = std::get<Intensity>(in_units(Intensity{{row({1}), row({4})}}, 10, 1)).rate;
  EXPECT_EQ(rate.log_mean.item<double>(), 11);
  EXPECT_EQ(rate.log_var.item<double>(), 4);
}

}  // namespace
}  // namespace slimbayes
