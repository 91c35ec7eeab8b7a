#include "slimbayes/data/dataset.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace slimbayes {
namespace {

Dataset small() {
  return {{{}, {"a", "b"}}, {{at::arange(8, at::kDouble).view({4, 2})}, at::arange(4, at::kDouble)}};
}

TEST(Dataset, rows_and_subset_take_inputs_and_target) {
  Dataset data = small();
  EXPECT_EQ(data.size(), 4);
  at::Tensor indices = at::tensor({3, 0}, at::kLong);
  Batch batch = data.rows(indices);
  EXPECT_TRUE(at::equal(batch.inputs[0], at::tensor({6.0, 7.0, 0.0, 1.0}, at::kDouble).view({2, 2})));
  EXPECT_TRUE(at::equal(batch.target, at::tensor({3.0, 0.0}, at::kDouble)));
  Dataset part = data.subset(indices);
  EXPECT_EQ(part.size(), 2);
  EXPECT_EQ(part.schema.features, data.schema.features);
  EXPECT_EQ(data.size(), 4);
}

TEST(Dataset, no_target_no_rows) {
  Dataset data = small();
  data.all.target = at::Tensor();
  EXPECT_FALSE(data.rows(at::tensor({1}, at::kLong)).target.defined());
  EXPECT_EQ(data.subset(at::empty({0}, at::kLong)).size(), 0);
  EXPECT_EQ(Dataset{}.size(), 0);
}

TEST(Dataset, refuses_indices_of_another_type_or_shape) {
  EXPECT_THROW(small().rows(at::zeros({2}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(small().rows(at::zeros({2, 1}, at::kLong)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
