#include "slimbayes/methods/portfolio/portfolio_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "slimbayes/answers/answers.h"

namespace slimbayes {
namespace {

/// A scored candidate that answers every row with this mean and sd.
struct Answered {
  TriedCandidate tried;
  std::optional<Predictive> held;
};

Answered answered(const std::string& method, const at::Tensor& mean, double sd, const at::Tensor& y) {
  Answered out;
  out.tried.candidate.method = method;
  const at::Tensor var = at::full_like(mean, sd * sd);
  out.held = Regression{mean, var, at::zeros_like(mean)};
  out.tried.nll = row_nll(*out.held, y).mean().item<double>();
  return out;
}

// The others explain the row about which this candidate is wrong without doubt: the mixture loses little by
// it, and its intervals would be wrong.
TEST(weigh, ACandidateThatKnowsLessThanNothingTakesNoPart) {
  const at::Tensor y = at::tensor({-1.0, 0.0, 1.0, 0.5}, at::kDouble);
  const at::Tensor sure = at::tensor({-1.0, 0.0, 1.0, 1.5}, at::kDouble);
  for (const char* other : {"constant", "ridge"}) {
    const Answered plain = answered(other, at::zeros_like(y), 1, y), wrong = answered("dnn", sure, 1e-3, y);
    ASSERT_GT(wrong.tried.nll, 1e5);
    std::vector<TriedCandidate> all = {plain.tried, wrong.tried};
    const double nll = weigh(all, {plain.held, wrong.held}, y, false).nll;
    EXPECT_EQ(all[0].weight, 1) << other;
    EXPECT_EQ(all[1].weight, 0) << other;
    EXPECT_LT(nll, 2);
  }
}

// Six of 47 targets outside the intervals are more than chance explains, five are not. The weighted share of
// six, 12 / 94, times 47 is slightly below 6 in a double.
TEST(weigh, EqualWeightsWidenAsNoneDo) {
  at::Tensor y = at::full({47}, 0.395, at::kDouble);
  y.slice(0, 0, 6).fill_(2.6);
  const Answered one = answered("ridge", at::zeros_like(y), 1, y);
  std::vector<TriedCandidate> plain = {one.tried}, twice = {one.tried};
  weigh(plain, {one.held}, y, false);
  weigh(twice, {one.held}, y, false, at::full({47}, 2, at::kDouble));
  EXPECT_GT(plain[0].tempering.factor, 1.5);  // 1: the intervals are left as they are
  EXPECT_NEAR(twice[0].tempering.factor, plain[0].tempering.factor, 1e-3);
}

// A candidate that is worse than others on average, and better on some rows, keeps its part.
TEST(weigh, ACandidateThatIsABitWorseTakesPart) {
  const at::Tensor y = at::linspace(-1, 1, 40, at::kDouble);
  const Answered plain = answered("constant", at::zeros_like(y), 1, y),
                 half = answered("dnn", at::where(y > 0, y, 0.4), 0.4, y);
  std::vector<TriedCandidate> all = {plain.tried, half.tried};
  weigh(all, {plain.held, half.held}, y, false);
  EXPECT_GT(all[1].weight, 0.1);
}

/// A candidate that gives the right class .9 on the rows that it knows, and .5 on the others.
Answered half_sure(const std::string& method, const at::Tensor& y, const at::Tensor& knows) {
  const at::Tensor p = at::where(knows, 0.9, 0.5).to(at::kDouble), second = at::where(y == 1, p, 1 - p);
  Answered out;
  out.tried.candidate.method = method;
  const at::Tensor both = at::stack({1 - second, second}, 1), entropy = -at::xlogy(both, both).sum(1);
  out.held = Classes{both, entropy, entropy};
  out.tried.nll = row_nll(*out.held, y).mean().item<double>();
  return out;
}

// The mean of answers that are sure about different rows is less sure than they are together.
TEST(weigh, AnswersThatAreSureAboutDifferentRowsArePooledByTheirProduct) {
  const at::Tensor rows = at::arange(400), y = rows.remainder(2);
  const Answered first = half_sure("dnn", y, rows < 220), second = half_sure("vbll", y, rows >= 180);
  std::vector<TriedCandidate> all = {first.tried, second.tried};
  const Weighting both = weigh(all, {first.held, second.held}, y, false);
  EXPECT_LT(both.nll, first.tried.nll - 0.1);
  EXPECT_NEAR(all[0].weight, 0.5, 0.01);
  EXPECT_GT(both.power.value(), 1.5);
  const Predictive answer = pooled({*first.held, *second.held}, {all[0].weight, all[1].weight}, both.power);
  EXPECT_NEAR(row_nll(answer, y).mean().item<double>(), both.nll, 1e-12);
  EXPECT_THROW(pooled({*first.held, *second.held}, {0.5, 0.5}, std::nullopt), std::invalid_argument);
}

TEST(weigh, ASingleCandidateGetsNoSecondPower) {
  const at::Tensor rows = at::arange(400), y = rows.remainder(2);
  const Answered one = half_sure("dnn", y, rows < 220);
  std::vector<TriedCandidate> all = {one.tried};
  EXPECT_FALSE(weigh(all, {one.held}, y, false).power.has_value());
}

// Two that know the same are one. Where they answer .9, they are right on nine rows of ten.
TEST(weigh, ACandidateThatAddsNothingTakesNoPartOfAPool) {
  const at::Tensor rows = at::arange(400), told = rows.remainder(2),
                   y = at::where(rows.remainder(10) == 3, 1 - told, told);
  std::vector<TriedCandidate> all;
  std::vector<std::optional<Predictive>> held;
  for (const Answered& one : {half_sure("dnn", told, rows < 200), half_sure("vbll", told, rows < 200),
                              half_sure("logistic", told, rows >= 200)}) {
    all.push_back(one.tried);
    held.push_back(one.held);
  }
  weigh(all, held, y, false);
  EXPECT_EQ((all[0].weight > 0) + (all[1].weight > 0), 1);
  EXPECT_GT(all[2].weight, 0.1);
}

// Equal probabilities have no effect on a pool, whatever weight the prior gives them.
TEST(weigh, AnAnswerThatSaysNothingTakesNoPartOfAPool) {
  const at::Tensor rows = at::arange(400), y = rows.remainder(2);
  const Answered knows = half_sure("dnn", y, rows < 300), less = half_sure("vbll", y, rows >= 200),
                 nothing = half_sure("constant", y, rows < 0);
  std::vector<TriedCandidate> two = {knows.tried, less.tried}, all = {knows.tried, less.tried, nothing.tried};
  const Weighting without = weigh(two, {knows.held, less.held}, y, false),
                  with = weigh(all, {knows.held, less.held, nothing.held}, y, false);
  EXPECT_EQ(all[2].weight, 0);
  EXPECT_EQ(all[0].weight, two[0].weight);
  EXPECT_EQ(with.nll, without.nll);
  EXPECT_EQ(with.power, without.power);
}

// A pool gives no weight to answers that are against the classes. The best of them answers alone.
TEST(weigh, TheBestCandidateAnswersWhereAPoolHasNoWeights) {
  const at::Tensor rows = at::arange(400), y = rows.remainder(2);
  std::vector<TriedCandidate> all;
  std::vector<std::optional<Predictive>> held;
  for (const double right : {0.2, 0.4, 0.3}) {
    const at::Tensor second = at::where(y == 1, right, 1 - right).to(at::kDouble),
                     both = at::stack({1 - second, second}, 1), entropy = -at::xlogy(both, both).sum(1);
    held.emplace_back(Classes{both, entropy, entropy});
    all.emplace_back().candidate.method = "dnn";
    all.back().nll = row_nll(*held.back(), y).mean().item<double>();
  }
  const Weighting found = weigh(all, held, y, false);
  EXPECT_EQ(all[0].weight, 0);
  EXPECT_EQ(all[1].weight, 1);
  EXPECT_EQ(all[2].weight, 0);
  EXPECT_FALSE(found.power.has_value());
  EXPECT_EQ(found.nll, all[1].nll);
}

}  // namespace
}  // namespace slimbayes
