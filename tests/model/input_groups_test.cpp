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

}  // namespace
}  // namespace slimbayes
