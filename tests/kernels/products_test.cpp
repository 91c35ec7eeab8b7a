#include <array>
#include <string_view>
#include <utility>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class Products : public EveryTarget {};

constexpr std::array<std::array<int64_t, 3>, 9> kSizes = {{{1, 1, 1},
                                                           {60, 26, 64},
                                                           {7, 64, 128},
                                                           {60, 3, 5},
                                                           {13, 17, 33},
                                                           {2, 128, 1},
                                                           {23, 1, 100},
                                                           {0, 4, 4},
                                                           {11, 50, 47}}};

/// Returns sum_p a[i, p] b[p, j] and the sum of the sizes of the terms, in float64.
std::pair<double, double> element(const Matrix& a, const Matrix& b, int64_t i, int64_t j, int64_t k) {
  double sum = 0, size = 0;
  for (int64_t p = 0; p < k; ++p) {
    sum += a(i, p) * b(p, j);
    size += std::abs(a(i, p) * b(p, j));
  }
  return {sum, size};
}

TEST_P(Products, AreThoseOfFloat64) {
  for (const auto& [m, k, n] : kSizes) {
    const Matrix a(m, k, 1), b(k, n, 2), bias(1, n, 3);
    for (const bool shifted : {false, true}) {
      Matrix c(m, n, 4);
      this->k().product({.m = m,
                         .k = k,
                         .n = n,
                         .a = a.data(),
                         .lda = a.ld,
                         .b = b.data(),
                         .ldb = b.ld,
                         .c = c.data(),
                         .ldc = c.ld,
                         .bias = shifted ? bias.data() : nullptr});
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const auto [sum, size] = element(a, b, i, j, k);
          EXPECT_NEAR(std::as_const(c)(i, j), sum + (shifted ? bias(0, j) : 0), 1e-6 * (size + 1))
              << m << k << n;
        }
      }
      EXPECT_TRUE(c.padding_is_zero());
    }
  }
}

TEST_P(Products, OfATriangleAreThoseOfTheWholeMatrix) {
  for (const int64_t n : {1, 5, 16, 47, 128}) {
    const Matrix a(13, n, 1);
    Matrix lower(n, n, 2), upper(n, n, 2);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (j > i) lower(i, j) = 0;
        if (j < i) upper(i, j) = 0;
      }
    }
    for (const auto& [b, triangle] : {std::pair(&lower, Triangle::lower), {&upper, Triangle::upper}}) {
      Matrix whole(13, n), part(13, n, 9);
      Product p{.m = 13,
                .k = n,
                .n = n,
                .a = a.data(),
                .lda = a.ld,
                .b = b->data(),
                .ldb = b->ld,
                .c = whole.data(),
                .ldc = whole.ld};
      k().product(p);
      p.c = part.data();
      p.triangle = triangle;
      k().product(p);
      EXPECT_EQ(part.values, whole.values) << n;
    }
  }
}

TEST_P(Products, OfATransposeAreAddedAndWriteNothingElse) {
  for (const auto& [m, k, n] : kSizes) {
    const Matrix a(m, k, 1), b(m, n, 2);
    std::vector<float> c(static_cast<size_t>(k * n) + 1, 0.5F);
    this->k().transposed_product({.m = m,
                                  .k = k,
                                  .n = n,
                                  .a = a.data(),
                                  .lda = a.ld,
                                  .b = b.data(),
                                  .ldb = b.ld,
                                  .c = c.data(),
                                  .ldc = n,
                                  .scale = 2});
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < m; ++p) {
          sum += a(p, i) * b(p, j);
          size += std::abs(a(p, i) * b(p, j));
        }
        EXPECT_NEAR(c[static_cast<size_t>(i * n + j)], 0.5 + 2 * sum, 2e-6 * (size + 1));
      }
    }
    EXPECT_EQ(c.back(), 0.5F);
  }
}

TEST_P(Products, OfATransposeHaveTheirLowerTriangle) {
  const int64_t n = 47;
  const Matrix a(20, n, 1), b(20, n, 2);
  Matrix whole(n, n), part(n, n);
  TransposedProduct p{.m = 20,
                      .k = n,
                      .n = n,
                      .a = a.data(),
                      .lda = a.ld,
                      .b = b.data(),
                      .ldb = b.ld,
                      .c = whole.data(),
                      .ldc = whole.ld};
  k().transposed_product(p);
  p.c = part.data();
  p.triangle = Triangle::lower;
  k().transposed_product(p);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) EXPECT_EQ(part(i, j), whole(i, j));
}

TEST_P(Products, TransposeIsPadded) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{64, 26}, {1, 1}, {17, 40}, {33, 3}}) {
    const Matrix from(rows, columns, 1);
    Matrix to(columns, rows, 2);
    to.values.assign(to.values.size(), 7);
    k().transpose(from.data(), from.ld, rows, columns, 2, to.data(), to.ld);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) EXPECT_EQ(std::as_const(to)(j, i), 2 * from(i, j));
    EXPECT_TRUE(to.padding_is_zero());
  }
}

// A chain of fused multiply-adds in the order of the index has one result, whatever the registers.
TEST(Kernels, HaveTheSameBitsWithAndWithoutAVX512) {
  const Matrix a(60, 47, 1), b(47, 100, 2), scale(1, 100, 3), shift(1, 100, 4);
  std::vector<std::vector<float>> found;
  for (const Kernels& k : all_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;  // has no fused multiply-add
    Matrix c(60, 100), y(60, 100), unit(60, 100), slope(60, 100), inverse(1, 60);
    k.product({.m = 60,
               .k = 47,
               .n = 100,
               .a = a.data(),
               .lda = a.ld,
               .b = b.data(),
               .ldb = b.ld,
               .c = c.data(),
               .ldc = c.ld});
    k.layer_norm(c.of(), c.data(), scale.data(), shift.data(), y.data(), unit.data(), inverse.data());
    k.silu(y.of(), y.data(), slope.data());
    k.row_squares(y.of(), y.data(), inverse.data());
    std::vector<float>& all = found.emplace_back(c.values);
    for (const Matrix* one : {&y, &unit, &slope, &inverse})
      all.insert(all.end(), one->values.begin(), one->values.end());
  }
  for (const std::vector<float>& each : found) EXPECT_EQ(each, found.front());
}

SLIMBAYES_EVERY_TARGET(Products);

}  // namespace
}  // namespace slimbayes::kernels
