#include "slimbayes/answers/censored/concordance.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/core/random.h"
#include "tests/answers/censored/survival_rows.h"

namespace slimbayes {
namespace {

void expect_pairs(const Concordance& got, double concordant, double discordant, double risk, double time) {
  EXPECT_EQ(got.concordant, concordant);
  EXPECT_EQ(got.discordant, discordant);
  EXPECT_EQ(got.tied_risk, risk);
  EXPECT_EQ(got.tied_time, time);
}

// Reference values: scikit-survival 0.28.0 (tests/answers/survival_reference.py).
TEST(Concordance, MatchesScikitSurvival) {
  const SurvivalRows rows = scored_rows();
  const Concordance own = concordance(rows.data, rows.risk);
  EXPECT_NEAR(own.index, 0.5891402714932127, 1e-14);
  expect_pairs(own, 650, 453, 2, 26);
  const Concordance uno = uno_concordance(censoring_rows().data, rows.data, rows.risk);
  EXPECT_NEAR(uno.index, 0.5875988136390724, 1e-12);
  expect_pairs(uno, 650, 453, 2, 26);
  EXPECT_NEAR(uno_concordance(censoring_rows().data, rows.data, rows.risk, 9).index, 0.6035230753688481,
              1e-12);
}

/// Concordance by its definition, over all pairs.
Concordance of_all_pairs(const SurvivalTimes& data, const at::Tensor& risk) {
  const at::Tensor t = data.time, e = data.event == 1, r = risk.to(at::kDouble);
  const at::Tensor same = t.unsqueeze(1) == t, earlier = t.unsqueeze(1) < t;
  const at::Tensor comparable =
      e.unsqueeze(1).logical_and(earlier.logical_or(same.logical_and(e.logical_not())));
  const at::Tensor gap = r.unsqueeze(1) - r, tied = gap.abs() <= kTiedRisk;
  const auto count = [&](const at::Tensor& which) {
    return which.logical_and(comparable).sum().item<double>();
  };
  Concordance out{0, count((gap > 0).logical_and(tied.logical_not())),
                  count((gap < 0).logical_and(tied.logical_not())), count(tied), count(same)};
  out.index = (out.concordant + 0.5 * out.tied_risk) / (out.concordant + out.discordant + out.tied_risk);
  return out;
}

TEST(Concordance, IsTheCountOverAllPairs) {
  const int64_t n = 700;
  const SurvivalTimes data{(Stream(1).normal({n}) * 8).round().to(at::kDouble), Stream(2).normal({n}) > -0.3};
  const at::Tensor risk = (Stream(3).normal({n}) * 6 - 0.4 * data.time).round();
  // Some risks differ by less than the tolerance, others by a little more.
  const at::Tensor near = risk + 0.7e-8 * at::arange(n, at::kDouble).remainder(3);
  for (const at::Tensor& one : {risk, near}) {
    const Concordance fast = concordance(data, one), slow = of_all_pairs(data, one);
    expect_pairs(fast, slow.concordant, slow.discordant, slow.tied_risk, slow.tied_time);
    EXPECT_DOUBLE_EQ(fast.index, slow.index);
    EXPECT_GT(fast.tied_risk, 1000);
  }
}

TEST(Concordance, OfAPerfectAndAConstantRisk) {
  const SurvivalTimes data{row({1, 2, 3, 4}), at::tensor({1, 0, 1, 1})};
  EXPECT_EQ(concordance(data, row({4, 3, 2, 1})).index, 1);
  EXPECT_EQ(concordance(data, row({1, 2, 3, 4})).index, 0);
  EXPECT_EQ(concordance(data, row({7, 7, 7, 7})).index, 0.5);
  // Pairs of the row at 1 with three rows and of the row at 3 with one; the censored row begins no pair.
  expect_pairs(concordance(data, row({4, 3, 2, 1})), 4, 0, 0, 0);
  // An event and a censoring at the same time are comparable, two events are not.
  expect_pairs(concordance({row({1, 1, 1}), at::tensor({1, 1, 0})}, row({2, 1, 0})), 2, 0, 0, 2);
}

TEST(Concordance, ARowOfWeightTwoIsTwoRows) {
  const SurvivalRows rows = scored_rows();
  const auto copies = repeats(60);
  const SurvivalTimes twice = copied_rows(rows.data, copies.second);
  const at::Tensor risk = rows.risk.index_select(0, copies.second);
  const Concordance one = concordance(rows.data, rows.risk, copies.first), two = concordance(twice, risk);
  expect_pairs(one, two.concordant, two.discordant, two.tied_risk, two.tied_time);
  EXPECT_DOUBLE_EQ(one.index, two.index);
  const SurvivalTimes training = censoring_rows().data;
  EXPECT_NEAR(uno_concordance(training, rows.data, rows.risk, 12, copies.first).index,
              uno_concordance(training, twice, risk, 12).index, 1e-13);
}

// Without censoring every pair has the weight 1.
TEST(UnoConcordance, WithoutCensoringIsHarrells) {
  const SurvivalRows rows = scored_rows();
  const SurvivalTimes all{rows.data.time, at::ones_like(rows.data.event)};
  EXPECT_DOUBLE_EQ(uno_concordance(all, all, rows.risk).index, concordance(all, rows.risk).index);
}

TEST(Concordance, RefusesWhatItCannotScore) {
  const SurvivalTimes censored{row({1, 2}), at::tensor({0, 0})}, data{row({1, 2, 6}), at::tensor({1, 1, 1})};
  EXPECT_THROW(concordance(censored, row({1, 2})), std::invalid_argument);
  EXPECT_THROW(concordance(data, row({1, 2})), std::invalid_argument);
  EXPECT_THROW(concordance(data, row({1, 2, std::nan("")})), std::invalid_argument);
  // The censoring is known up to 3 alone.
  const SurvivalTimes training{row({1, 2.5, 3}), at::tensor({1, 0, 1})};
  EXPECT_THROW(uno_concordance(training, data, row({3, 2, 1})), std::invalid_argument);
  EXPECT_EQ(uno_concordance(training, data, row({3, 2, 1}), 3).index, 1);
}

}  // namespace
}  // namespace slimbayes
