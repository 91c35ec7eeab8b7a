#include "slimbayes/model/input_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

/// Returns six rows with the inputs 0, 0, 0, 1, 2, 2 and these targets.
Dataset rows_with(std::initializer_list<double> targets) {
  Batch rows{{at::tensor({0., 0., 0., 1., 2., 2.}, at::kDouble).unsqueeze(1)}};
  rows.target = at::tensor(std::vector<double>(targets), at::kDouble);
  Schema schema;
  schema.features = {"x"};
  return dataset_of(schema, std::move(rows));
}

TEST(input_groups, are_rows_with_identical_inputs) {
  const Dataset rows = rows_with({0, 0, 0, 0, 0, 0});
  const std::vector<int64_t> group = input_groups(rows, true);
  EXPECT_EQ(group, (std::vector<int64_t>{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(input_groups(rows, false), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(count_groups(group, {0, 1, 3}), 2);
  EXPECT_EQ(count_groups(group, {}), 0);
  EXPECT_TRUE(at::allclose(group_weights(group, {0, 1, 3, 5}), at::tensor({0.5, 0.5, 1., 1.}, at::kDouble)));
}

// Intervals of level 0.95 around 0 with sd 1 reach to 1.96.
TEST(misses_of, counts_rows_with_identical_inputs_as_one) {
  const at::Tensor zero = at::zeros({6}, at::kDouble), one = at::ones({6}, at::kDouble);
  const Regression p{zero, 0.5 * one, 0.5 * one};
  const auto of = [&](std::initializer_list<double> y, bool grouped) {
    const Misses found = misses_of(p, rows_with(y), 0.95, grouped);
    return std::pair{found.misses, found.rows};
  };
  EXPECT_EQ(of({3, 3, 3, 3, 3, -3}, true), (std::pair<int64_t, int64_t>{3, 3}));
  EXPECT_EQ(of({3, 3, 3, 3, 3, -3}, false), (std::pair<int64_t, int64_t>{6, 6}));
  EXPECT_EQ(of({3, 3, 0, 3, 0, 0}, true), (std::pair<int64_t, int64_t>{1, 3}));  // 2/3 + 1, rounded down
  EXPECT_EQ(of({3, 3, 0, 3, 3, 0}, true), (std::pair<int64_t, int64_t>{2, 3}));  // 2/3 + 1 + 1/2
  EXPECT_EQ(of({1.9, -1.9, 0, 1.9, 0, 0}, false), (std::pair<int64_t, int64_t>{0, 6}));
}

TEST(sums_by_group, adds_up_the_rows_of_each_group) {
  const std::vector<int64_t> group = {0, 0, 1, 2, 1};
  const at::Tensor sums = sums_by_group(group, {0, 2, 4, 1}, at::tensor({1., 10., 100., 1000.}, at::kDouble));
  EXPECT_TRUE(at::equal(sums, at::tensor({1001., 110.}, at::kDouble)));
}

// The inputs 0, 1 and 2 have the mean weights 1, 3 and 1: the effective number is 25 / 11.
TEST(misses_of, counts_inputs_by_their_weights) {
  const at::Tensor zero = at::zeros({6}, at::kDouble), one = at::ones({6}, at::kDouble);
  const Regression p{zero, 0.5 * one, 0.5 * one};
  const auto of = [&](std::initializer_list<double> y, const at::Tensor& w) {
    const Misses found = misses_of(p, weighted(rows_with(y), w), 0.95, true);
    return std::pair{found.misses, found.rows};
  };
  const at::Tensor w = at::tensor({1., 1., 1., 3., 1., 1.}, at::kDouble);
  EXPECT_EQ(of({0, 0, 0, 3, 0, 0}, w), (std::pair<int64_t, int64_t>{1, 2}));  // 3 / 5 of 2.27
  EXPECT_EQ(of({3, 3, 3, 0, 0, 0}, w), (std::pair<int64_t, int64_t>{0, 2}));  // 1 / 5 of 2.27
  EXPECT_EQ(of({3, 3, 3, 3, 3, 3}, w), (std::pair<int64_t, int64_t>{2, 2}));
  EXPECT_EQ(of({3, 3, 0, 3, 3, 0}, 2 * one), (std::pair<int64_t, int64_t>{2, 3}));  // as without weights
}

}  // namespace
}  // namespace slimbayes
