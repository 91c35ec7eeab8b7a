// The three forms of a matrix against the dense product.
#include "slimbayes/nn/linear_map.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"

namespace slimbayes {
namespace {

constexpr int64_t kOut = 5, kIn = 3, kRank = 2;

at::Tensor normal(const char* name, at::IntArrayRef sizes) { return Stream(1).split(name).normal(sizes); }

std::vector<std::pair<LinearMap, at::Tensor>> maps() {
  const at::Tensor w = normal("w", {kOut, kIn}), a = normal("a", {kOut, kRank}),
                   b = normal("b", {kIn, kRank}), s = normal("s", {kOut}), r = normal("r", {kIn});
  return {
      {DenseMap{w}, w}, {FactoredMap{a, b}, a.mm(b.t())}, {ScaledMap{w, s, r}, s.diag().mm(w).mm(r.diag())}};
}

TEST(LinearMap, EveryFormIsTheDenseProduct) {
  const at::Tensor x = normal("x", {4, 7, kIn}), bias = normal("bias", {kOut});
  for (const auto& [map, w] : maps()) {
    EXPECT_TRUE(at::allclose(dense(map), w, 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(apply(map, x), at::matmul(x, w.t()), 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(apply(map, x, bias), at::matmul(x, w.t()) + bias, 1e-12, 1e-12));
    const at::Tensor tokens = at::tensor({4, 0, 0, 3}, at::kLong).view({2, 2});
    EXPECT_TRUE(at::allclose(rows(map, tokens), at::embedding(w, tokens), 1e-12, 1e-12));
    EXPECT_EQ(sizes_of(map), std::pair(kOut, kIn));
  }
}

TEST(LinearMap, OfSomeTokensGivesTheirRowsAndNoWholeMatrix) {
  const at::Tensor held = at::tensor({0, 3, 4}, at::kLong), tokens = at::tensor({4, 0, 3, 3}, at::kLong);
  const at::Tensor w = normal("w", {kOut, kIn}), a = normal("a", {kOut, kRank}),
                   b = normal("b", {kIn, kRank});
  const LinearMap dense_rows = DenseMap{w.index_select(0, held), held};
  const LinearMap factored = FactoredMap{a.index_select(0, held), b, held};
  EXPECT_TRUE(at::equal(rows(dense_rows, tokens), w.index_select(0, tokens)));
  EXPECT_TRUE(at::allclose(rows(factored, tokens), a.mm(b.t()).index_select(0, tokens), 1e-12, 1e-12));
  EXPECT_THROW(dense(dense_rows), std::logic_error);
  EXPECT_THROW(dense(factored), std::logic_error);
}

}  // namespace
}  // namespace slimbayes
