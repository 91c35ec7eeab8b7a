// What methods share, of rows with weights: means, tensors of all rows, the parts of ranks, keys of networks.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/network_cache.h"
#include "slimbayes/method/rank_rows.h"

namespace slimbayes {
namespace {

/// Rows with the weights 1, 2, 3, 1, ..., and each row as often as its weight says.
struct HeavyRows {
  at::Tensor times = 1 + at::arange(10).remainder(3);
  Dataset once = regression_data(Stream(1).normal({10, 2}), Stream(2).normal({10}));
  Dataset own = weighted(once, times);
  Dataset copies = once.subset(at::repeat_interleave(at::arange(10), times));
};

TEST(WeightedRows, MeansAreThoseOfRepeatedRows) {
  const HeavyRows rows;
  const auto loss = [](const Input& input, const at::Tensor& y) { return (input.x.sum(1) - y).square(); };
  const double repeated = mean_over_rows(rows.copies, loss);
  EXPECT_NEAR(mean_over_rows(rows.own, loss), repeated, 1e-6 * repeated);  // losses are float32
  EXPECT_GT(std::abs(mean_over_rows(rows.once, loss) - repeated), 1e-3 * repeated);
  const at::Tensor y = rows.once.all().target;
  EXPECT_NEAR(weighted_mean(y, rows.own.weights()), rows.copies.all().target.mean().item<double>(), 1e-14);
  EXPECT_EQ(weighted_mean(y, {}), y.mean().item<double>());
  EXPECT_EQ(labelled_rows(rows.own), static_cast<double>(rows.copies.size()));
  EXPECT_EQ(labelled_rows(rows.once), 10);
  const auto answer = [](const Dataset& block) -> Predictive {
    const at::Tensor mean = block.all().inputs[0].sum(1);
    return Regression{mean, at::full_like(mean, 0.5), at::full_like(mean, 0.1)};
  };
  EXPECT_NEAR(*nll_of_answers(rows.own, answer), *nll_of_answers(rows.copies, answer), 1e-12);
  EXPECT_EQ(*nll_of_answers(rows.once, answer), *mean_nll(answer(rows.once), y));
}

TEST(WeightedRows, TensorsOfRowsKeepTheWeights) {
  const HeavyRows rows;
  const RowTensors all = tensors_of(rows.own, at::kFloat);
  EXPECT_TRUE(at::equal(all.weight, rows.times.to(at::kDouble)));
  const at::Tensor which = at::tensor({7, 2}, at::kLong);
  const RowTensors some = all.subset(which);
  EXPECT_TRUE(at::equal(some.weight, all.weight.index_select(0, which)));
  EXPECT_TRUE(at::equal(some.x, all.x.index_select(0, which)));
  EXPECT_TRUE(at::equal(some.y, all.y.index_select(0, which)));
  EXPECT_FALSE(tensors_of(rows.once, at::kFloat).subset(which).weight.defined());
}

// A network that was trained with other weights is another network.
TEST(WeightedRows, AreInTheKeyOfATraining) {
  const HeavyRows rows;
  const auto key = [](const Dataset& train, const Dataset& valid) {
    return training_key({}, {}, {train, valid}, Stream(1));
  };
  EXPECT_NE(key(rows.own, rows.once), key(rows.once, rows.once));
  EXPECT_NE(key(rows.once, rows.own), key(rows.once, rows.once));
  EXPECT_NE(key(rows.once, rows.own), key(rows.own, rows.once));
  EXPECT_NE(key(weighted(rows.once, 2 * rows.times), {}), key(rows.own, {}));
  EXPECT_EQ(key(weighted(rows.once, rows.times), {}), key(rows.own, {}));
}

}  // namespace
}  // namespace slimbayes
