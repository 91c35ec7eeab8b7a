#include "slimbayes/core/writable.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace slimbayes {
namespace {

TEST(Writable, ReturnsTheTensorItselfOnlyToItsSoleOwner) {
  at::Tensor x = at::ones({2, 3}, at::kDouble);
  const void* elements = x.data_ptr();
  EXPECT_NE(writable(x).data_ptr(), elements);  // x still holds them
  {
    const at::Tensor view = x[0];
    x = writable(std::move(x));
    EXPECT_NE(x.data_ptr(), elements);
    x.zero_();
    EXPECT_EQ(view.sum().item<double>(), 3);
  }
  elements = x.data_ptr();
  x = writable(std::move(x));
  EXPECT_EQ(x.data_ptr(), elements);
}

TEST(Writable, CopiesForeignMemoryAndTensorsWithGradients) {
  std::vector<double> given = {1, 2};
  at::Tensor foreign = writable(at::from_blob(given.data(), {2}, at::kDouble));
  EXPECT_NE(foreign.data_ptr(), given.data());
  at::Tensor leaf = at::ones({2}, at::kDouble).requires_grad_(true);
  EXPECT_FALSE(writable(std::move(leaf)).requires_grad());
}

TEST(Writable, CopiesTensorsOfInferenceMode) {
  at::Tensor x;
  {
    const c10::InferenceMode guard;
    x = at::ones({2}, at::kDouble);
  }
  x = writable(std::move(x));
  x.zero_();  // throws for a tensor of inference mode
  EXPECT_EQ(x.sum().item<double>(), 0);
}

TEST(Writable, KeepsTheStrides) {
  const at::Tensor x = at::ones({2, 3}, at::kDouble).t();
  EXPECT_EQ(writable(x).strides(), x.strides());
}

}  // namespace
}  // namespace slimbayes
