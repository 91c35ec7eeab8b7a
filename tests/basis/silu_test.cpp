#include "slimbayes/basis/silu.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

TEST(SiluBasis, EqualsItsFormula) {
  Parameters p(silu_parameters(3, 6, "basis", "head", Stream(4)), at::kDouble);
  SiluBasis basis = SiluBasis::bind("basis", [&](const std::string& name) { return p[name]; });
  at::Tensor g = Stream(5).normal({2, 3});
  at::Tensor a = at::matmul(g, p["basis.weight"].t()) + p["basis.bias"];
  EXPECT_TRUE(at::allclose(basis(g), p["basis.scale"] * a / (1 + at::exp(-a)), 1e-12, 1e-14));
}

TEST(SiluBasis, StartsWithRandomSignsOfTheRootOfTheRank) {
  std::vector<ParameterSpec> specs = silu_parameters(3, 400, "basis", "head", Stream(4));
  at::Tensor scale = specs[2].start;
  EXPECT_TRUE(at::allclose(scale.abs(), at::full({400}, 1 / std::sqrt(400.0), at::kDouble)));
  EXPECT_LT(std::abs(scale.sum().item<double>()), 4);  // five sds of a fair coin
}

}  // namespace
}  // namespace slimbayes
