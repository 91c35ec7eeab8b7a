#include <cstring>
#include <random>
#include <utility>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class QuadraticForms : public EveryTarget {};

struct Sizes {
  int64_t m, k, n;
};
constexpr Sizes kShapes[] = {{1, 1, 1},    {1, 64, 128}, {60, 26, 64}, {7, 64, 128}, {60, 3, 5},
                             {13, 17, 33}, {2, 128, 1},  {23, 1, 100}, {0, 4, 4},    {70, 50, 47}};

/// The product and its row's squares are those of sums in long double, up to the rounding of k terms.
TEST_P(QuadraticForms, ProductsAreThoseOfLongDoubles) {
  for (const auto& [m, k, n] : kShapes) {
    const Matrix64 a(m, k, 1), b(k, n, 2), bias(1, n, 3);
    for (const Matrix64* shift : {static_cast<const Matrix64*>(nullptr), &bias}) {
      Matrix64 c(m, n);
      this->k().product64(product_of(a, b, c, shift));
      std::vector<double> squares(static_cast<size_t>(m), -1);
      this->k().product_squares64(product_of(a, b, c, shift), squares.data());
      for (int64_t i = 0; i < m; ++i) {
        long double square = 0;
        for (int64_t j = 0; j < n; ++j) {
          long double sum = shift == nullptr ? 0 : bias(0, j), size = 1;
          for (int64_t p = 0; p < k; ++p) {
            sum += static_cast<long double>(a(i, p)) * b(p, j);
            size += std::abs(a(i, p) * b(p, j));
          }
          EXPECT_NEAR(std::as_const(c)(i, j), static_cast<double>(sum), static_cast<double>(1e-15L * size));
          square += sum * sum;
        }
        EXPECT_NEAR(squares[static_cast<size_t>(i)] / static_cast<double>(square), 1, 1e-12);
      }
      EXPECT_TRUE(c.padding_is_zero());
    }
  }
}

/// Nothing is read of the other triangle, which only costs time; the bits are those of the whole product, and
/// those of a row do not depend on the rows beside it.
TEST_P(QuadraticForms, ATriangleAndASingleRowHaveTheBitsOfTheWholeProduct) {
  for (const int64_t n : {1, 5, 16, 47, 128, 200}) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const Matrix64 a(61, n, 5);
      Matrix64 b(n, n, 6), whole(61, n), part(61, n), alone(1, n);
      for (int64_t p = 0; p < n; ++p)
        for (int64_t j = 0; j < n; ++j)
          if (triangle == Triangle::lower ? p < j : p > j) b(p, j) = 0;
      k().product64(product_of(a, b, whole, nullptr));
      k().product64(product_of(a, b, part, nullptr, triangle));
      EXPECT_EQ(whole.values, part.values) << n;
      std::vector<double> squares(61), one(1);
      k().product_squares64(product_of(a, b, part, nullptr, triangle), squares.data());
      for (const int64_t i : {0, 17, 60}) {
        Product64 single = product_of(a, b, alone, nullptr, triangle);
        single.m = 1;
        single.a += i * a.ld;
        k().product64(single);
        EXPECT_EQ(0, std::memcmp(alone.data(), whole.data() + i * whole.ld,
                                 static_cast<size_t>(n) * sizeof(double)));
        k().product_squares64(single, one.data());
        EXPECT_EQ(one[0], squares[static_cast<size_t>(i)]);
      }
    }
  }
}

TEST_P(QuadraticForms, TheGaussianKernelIsTheExponentialOfTheSquaredDistance) {
  for (const auto& [m, d, n] : {Sizes{1, 8, 318}, {7, 1, 33}, {60, 26, 5}}) {
    const Matrix64 a(m, d, 7), b(d, n, 8, 2);
    Matrix64 c(m, n);
    k().gaussian_kernel64(product_of(a, b, c, nullptr), 1.7);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < d; ++p) sum += (a(i, p) - b(p, j)) * (a(i, p) - b(p, j));
        const double expected = 1.7 * std::exp(-0.5 * sum);
        EXPECT_NEAR(std::as_const(c)(i, j), expected, 1e-13 * expected);
      }
  }
  Matrix64 far(1, 1), zero(1, 1), c(1, 1);
  far(0, 0) = 1e5;
  k().gaussian_kernel64(product_of(far, zero, c, nullptr), 1);
  EXPECT_EQ(c(0, 0), 0);
}

/// AVX2, AVX-512 and NEON have the same bits, as kernels.h says.
TEST(QuadraticFormTargets, HaveTheSameBits) {
  std::vector<double> first;
  for (const Kernels& k : all_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;
    const Matrix64 a(13, 47, 21), b(47, 100, 22, 0.2), scale(1, 100, 23), shift(1, 100, 24);
    Matrix64 c(13, 100), y(13, 100), kernel(13, 100);
    k.product64(product_of(a, b, c, nullptr));
    k.layer_norm64(c.of(), c.data(), scale.data(), shift.data(), y.data());
    k.silu64(y.of(), y.data());
    k.tanh64(y.of(), y.data());
    k.gaussian_kernel64(product_of(a, b, kernel, nullptr), 2);
    std::vector<double> all(13);
    k.product_squares64(product_of(a, b, c, nullptr), all.data());
    for (int64_t i = 0; i < 13; ++i)
      for (int64_t j = 0; j < 100; ++j) {
        all.push_back(std::as_const(y)(i, j));
        all.push_back(std::as_const(kernel)(i, j));
      }
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << k.target;
  }
}

SLIMBAYES_EVERY_TARGET(QuadraticForms);

}  // namespace
}  // namespace slimbayes::kernels
