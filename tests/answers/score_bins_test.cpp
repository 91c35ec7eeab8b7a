#include "slimbayes/answers/score_bins.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/answers/ranking.h"
#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

/// Scores over many orders of magnitude, and larger where a row is wrong.
struct Scored {
  at::Tensor score, wrong;
};

Scored sample(int64_t n, uint64_t seed = 1) {
  const at::Tensor z = Stream(seed).normal({n}), wrong = Stream(seed + 1).uniform({n}) < 0.2;
  return {at::exp(3 * z + wrong.to(at::kDouble) - 6), wrong};
}

TEST(ScoreBins, RankAsTheRowsDoUpToTheBoundThatTheyGive) {
  const Scored all = sample(20000);
  ScoreBins bins;
  for (int64_t low = 0; low < 20000; low += 4000)
    bins.add(all.score.narrow(0, low, 4000), all.wrong.narrow(0, low, 4000));
  EXPECT_EQ(bins.rows(), 20000);
  EXPECT_EQ(bins.wrong(), all.wrong.sum().item<int64_t>());
  const at::Tensor no = all.score.masked_select(~all.wrong), yes = all.score.masked_select(all.wrong);
  const ScoreBins::Auroc found = bins.auroc();
  EXPECT_GT(found.bound, 0);
  EXPECT_LT(found.bound, 2e-4);
  EXPECT_NEAR(found.value, auroc(no, yes), found.bound);
  EXPECT_NEAR(bins.average_precision(), average_precision(no, yes), 1e-3);
}

TEST(ScoreBins, AreExactForScoresInBinsOfTheirOwn) {
  const at::Tensor score = row({0, 1e-30, 0.25, 0.25, 0.5, 0.5005, 3, 0});
  const at::Tensor wrong = at::tensor({0, 1, 0, 1, 0, 1, 1, 0}, at::kLong).to(at::kBool);
  ScoreBins bins;
  bins.add(score, wrong);
  const at::Tensor no = score.masked_select(~wrong), yes = score.masked_select(wrong);
  EXPECT_DOUBLE_EQ(bins.auroc().value, auroc(no, yes));
  EXPECT_DOUBLE_EQ(bins.auroc().bound, 0.5 / 16);  // the tie at 0.25, of 4 x 4 pairs
  EXPECT_DOUBLE_EQ(bins.average_precision(), average_precision(no, yes));
}

TEST(ScoreBins, GiveTheReliabilityOfTheRows) {
  const int64_t n = 6000;
  const at::Tensor p = at::softmax(3 * Stream(4).normal({n, 3}), 1);
  const at::Tensor y = (3 * Stream(5).uniform({n})).floor(), zero = at::zeros({n}, at::kDouble);
  const Classes answer{p, zero, zero};
  ScoreBins bins;
  bins.add(1 - std::get<0>(p.max(1)), predicted_class(answer) != y);
  const Reliability exact = reliability(answer, y), binned = bins.reliability();
  ASSERT_EQ(binned.rows.size(0), 15);
  EXPECT_EQ(binned.rows.sum().item<int64_t>(), n);
  EXPECT_TRUE(at::allclose(binned.confidence, exact.confidence, 0, 2e-3));
  EXPECT_TRUE(at::allclose(binned.accuracy, exact.accuracy, 0, 2e-2));  // rows at the edge of a bin
}

TEST(ScoreBins, RefuseWhatIsNoScore) {
  ScoreBins bins;
  const at::Tensor no = at::zeros({1}, at::kBool);
  EXPECT_THROW(bins.add(row({-1}), no), std::invalid_argument);
  EXPECT_THROW(bins.add(row({NAN}), no), std::invalid_argument);
  EXPECT_THROW(bins.add(row({1, 2}), no), std::invalid_argument);
  EXPECT_THROW(bins.reliability(), std::invalid_argument);
  bins.add(row({-0.0}), no);
  EXPECT_EQ(bins.rows(), 1);
  EXPECT_THROW(bins.auroc(), std::invalid_argument);  // no row is wrong
  EXPECT_THROW(bins.average_precision(), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
