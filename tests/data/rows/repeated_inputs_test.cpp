#include "slimbayes/data/rows/repeated_inputs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace slimbayes {
namespace {

TEST(repeated_inputs, counts_rows_that_are_known) {
  const at::Tensor known = at::tensor({1.0, 0.0, 2.0, 3.0, 2.0, 3.0}, at::kDouble).view({3, 2});
  const double near = 3 + 4 * std::numeric_limits<double>::epsilon();
  const at::Tensor inputs = at::tensor({1.0, -0.0, 2.0, near, 2.0, 3.0, 0.0, 1.0}, at::kDouble).view({4, 2});
  EXPECT_EQ(repeated_inputs(known, inputs), 2);
  EXPECT_EQ(repeated_inputs(known, known), 3);
  EXPECT_EQ(repeated_inputs(known.slice(1, 0, 1), inputs.slice(1, 0, 1)), 3);
  EXPECT_EQ(repeated_inputs(known.narrow(0, 0, 0), inputs), 0);
  EXPECT_EQ(repeated_inputs(known, inputs.narrow(0, 0, 0)), 0);
  EXPECT_THROW(repeated_inputs(known, inputs.slice(1, 0, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
