#include <array>
#include <vector>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class DoubleProducts : public EveryTarget {};

/// A matrix of normal numbers in float64 with padded rows.
struct Wide {
  int64_t width, ld;
  std::vector<double> values;

  Wide(int64_t rows, int64_t width, uint64_t seed)
      : width(width), ld(padded(width)), values(static_cast<size_t>(rows * ld)) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; ++j) values[static_cast<size_t>(i * ld + j)] = normal(bits);
  }
  double at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * ld + j)]; }
};

constexpr std::array<std::array<int64_t, 3>, 6> kDoubleSizes = {
    {{1, 1, 1}, {60, 26, 64}, {7, 64, 128}, {13, 17, 33}, {0, 4, 4}, {11, 50, 47}}};

TEST_P(DoubleProducts, AreThoseOfALoop) {
  for (const auto& [m, k, n] : kDoubleSizes) {
    const Wide a(m, k, 1), b(k, n, 2);
    Wide c(m, n, 3);
    this->k().double_product({.m = m,
                              .k = k,
                              .n = n,
                              .a = a.values.data(),
                              .lda = a.ld,
                              .b = b.values.data(),
                              .ldb = b.ld,
                              .c = c.values.data(),
                              .ldc = c.ld});
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += a.at(i, p) * b.at(p, j);
        EXPECT_NEAR(c.at(i, j), sum, 1e-13) << m << " " << k << " " << n;
      }
    }
  }
}

TEST_P(DoubleProducts, OfATransposedMatrixAreAdded) {
  for (const auto& [m, k, n] : kDoubleSizes) {
    const Wide a(m, k, 1), b(m, n, 2), before(k, n, 3);
    Wide c = before;
    this->k().double_transposed_product({.m = m,
                                         .k = k,
                                         .n = n,
                                         .a = a.values.data(),
                                         .lda = a.ld,
                                         .b = b.values.data(),
                                         .ldb = b.ld,
                                         .c = c.values.data(),
                                         .ldc = c.ld,
                                         .scale = -0.5});
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < m; ++p) sum += a.at(p, i) * b.at(p, j);
        EXPECT_NEAR(c.at(i, j), before.at(i, j) - 0.5 * sum, 1e-13) << m << " " << k << " " << n;
      }
    }
  }
}

SLIMBAYES_EVERY_TARGET(DoubleProducts);

}  // namespace
}  // namespace slimbayes::kernels
