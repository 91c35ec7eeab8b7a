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
    EXPECT_TRUE(at::allclose(rows_of_map(map, tokens), at::embedding(w, tokens), 1e-12, 1e-12));
    EXPECT_EQ(sizes_of(map), std::pair(kOut, kIn));
  }
}

TEST(LinearMap, OfSomeTokensGivesTheirRowsAndNoWholeMatrix) {
  const at::Tensor held = at::tensor({0, 3, 4}, at::kLong), tokens = at::tensor({4, 0, 3, 3}, at::kLong);
  const at::Tensor w = normal("w", {kOut, kIn}), a = normal("a", {kOut, kRank}),
                   b = normal("b", {kIn, kRank});
  const LinearMap dense_rows = DenseMap{w.index_select(0, held), held};
  const LinearMap factored = FactoredMap{a.index_select(0, held), b, held};
  EXPECT_TRUE(at::equal(rows_of_map(dense_rows, tokens), w.index_select(0, tokens)));
  EXPECT_TRUE(at::allclose(rows_of_map(factored, tokens), a.mm(b.t()).index_select(0, tokens), 1e-12, 1e-12));
  EXPECT_THROW(dense(dense_rows), std::logic_error);
  EXPECT_THROW(dense(factored), std::logic_error);
}

/// Returns S draws of each form of a matrix. The V of a ScaledMap is shared.
std::vector<std::vector<LinearMap>> draws_of_forms() {
  const at::Tensor v = normal("v", {kOut, kIn});
  std::vector<std::vector<LinearMap>> forms(3);
  for (uint64_t s = 0; s < 4; ++s) {
    const auto own = [s](const char* name, at::IntArrayRef sizes) {
      return Stream(2).split(s).split(name).normal(sizes);
    };
    forms[0].emplace_back(DenseMap{own("w", {kOut, kIn})});
    forms[1].emplace_back(FactoredMap{own("a", {kOut, kRank}), own("b", {kIn, kRank})});
    forms[2].emplace_back(ScaledMap{v, own("s", {kOut}), own("r", {kIn})});
  }
  return forms;
}

TEST(LinearMap, StackedIsEveryDrawAfterTheOther) {
  const at::Tensor x = normal("x", {2, 7, kIn}), bias = normal("bias", {4, kOut});
  const at::Tensor own_rows = normal("own", {8, 7, kIn});
  const at::Tensor tokens = at::tensor({4, 0, 0, 3, 1, 2}, at::kLong).view({2, 3});
  for (const std::vector<LinearMap>& draws : draws_of_forms()) {
    const LinearMap all = stacked(draws);
    std::vector<at::Tensor> shared, apart, looked_up, whole;
    for (int64_t s = 0; s < 4; ++s) {
      const LinearMap& one = draws[static_cast<size_t>(s)];
      shared.push_back(apply(one, x, bias[s]));
      const at::Tensor own = own_rows.narrow(0, 2 * s, 2);
      apart.push_back(apply(one, own));
      looked_up.push_back(rows_of_map(one, tokens));
      whole.push_back(dense(one));
    }
    EXPECT_TRUE(at::allclose(apply(all, x, bias, 2), at::cat(shared), 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(apply(all, own_rows, {}, 2), at::cat(apart), 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(rows_of_map(all, tokens), at::cat(looked_up), 1e-12, 1e-12));
    EXPECT_TRUE(at::allclose(dense(all), at::stack(whole), 1e-12, 1e-12));
  }
}

}  // namespace
}  // namespace slimbayes
