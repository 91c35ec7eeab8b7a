#include "slimbayes/core/quadrature.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

double sum(const Quadrature& rule, const at::Tensor& values) {
  return at::dot(rule.weights, values).item<double>();
}

TEST(Quadrature, HermiteIsExactToDegree2qMinus1) {
  for (int64_t q : {1, 2, 5, 20, 64, 100}) {
    Quadrature rule = gauss_hermite(q);
    EXPECT_TRUE((rule.weights > 0).all().item<bool>());
    double moment = 1;  // E[z^k] = (k - 1)!! for even k
    for (int64_t k = 0; k <= 2 * q - 1; ++k) {
      if (k % 2 == 0 && k > 0) moment *= static_cast<double>(k - 1);
      double got = sum(rule, rule.nodes.pow(k));
      EXPECT_NEAR(got, k % 2 ? 0 : moment, 1e-11 * std::max(1.0, moment)) << q << " nodes, degree " << k;
    }
  }
  EXPECT_TRUE((gauss_hermite(200).weights > 0).all().item<bool>());
  // The rule is not exact for degree 2q.
  EXPECT_GT(std::abs(sum(gauss_hermite(2), gauss_hermite(2).nodes.pow(4)) - 3), 1);
  EXPECT_NEAR(sum(gauss_hermite(30), gauss_hermite(30).nodes.exp()), std::exp(0.5), 1e-13);
}

TEST(Quadrature, AGridIntegratesProducts) {
  Quadrature grid = tensor_grid(gauss_hermite(20), 2);
  EXPECT_EQ(grid.nodes.sizes(), at::IntArrayRef({400, 2}));
  at::Tensor x = grid.nodes.select(1, 0), y = grid.nodes.select(1, 1);
  EXPECT_NEAR(sum(grid, x.square() * y.pow(4)), 3, 1e-12);
  EXPECT_NEAR(sum(grid, at::exp(x + y)), std::exp(1), 1e-9);
  EXPECT_LT(x[0].item<double>(), -5);  // the last axis varies fastest
  EXPECT_EQ(x[0].item<double>(), x[19].item<double>());
  EXPECT_NE(y[0].item<double>(), y[1].item<double>());
}

TEST(Quadrature, RefusesWhatItCannotGive) {
  EXPECT_THROW(gauss_hermite(0), std::invalid_argument);
  EXPECT_THROW(gauss_hermite(201), std::invalid_argument);
  EXPECT_THROW(tensor_grid(gauss_hermite(40), 5), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
