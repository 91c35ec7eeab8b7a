#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class Doubles : public EveryTarget {};

TEST_P(Doubles, ProductsAreThoseOfLongDouble) {
  for (const auto& [m, n, w] : {std::array<int64_t, 3>{1, 1, 1}, {60, 26, 64}, {13, 17, 33}, {7, 128, 130}}) {
    const Matrix64 a(m, n, 1), b(n, w, 2), bias(1, w, 3), at(m, w, 5);
    Matrix64 c(m, w, 4), transposed(n, w, 6);
    const Matrix64 before = transposed;
    Product64 p = product_of(a, b, c);
    p.bias = bias.data();
    k().product64(p);
    k().transposed_product64({.m = m,
                              .k = n,
                              .n = w,
                              .a = a.data(),
                              .lda = a.ld,
                              .b = at.data(),
                              .ldb = at.ld,
                              .c = transposed.data(),
                              .ldc = transposed.ld,
                              .scale = -2});
    for (int64_t j = 0; j < w; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        long double sum = bias(0, j);
        for (int64_t q = 0; q < n; ++q) sum += static_cast<long double>(a(i, q)) * b(q, j);
        EXPECT_NEAR(std::as_const(c)(i, j), static_cast<double>(sum), 1e-14 * static_cast<double>(n));
      }
      for (int64_t i = 0; i < n; ++i) {
        long double sum = before(i, j);
        for (int64_t q = 0; q < m; ++q) sum -= static_cast<long double>(a(q, i)) * at(q, j) * 2;
        EXPECT_NEAR(std::as_const(transposed)(i, j), static_cast<double>(sum),
                    1e-14 * static_cast<double>(m));
      }
    }
    EXPECT_TRUE(c.padding_is_zero() && transposed.padding_is_zero());
  }
}

TEST_P(Doubles, TrianglesAreThoseOfTheWholeMatrix) {
  const int64_t n = 47;
  const Matrix64 a(20, n, 1);
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const auto inside = [&](int64_t i, int64_t j) { return triangle == Triangle::lower ? j <= i : j >= i; };
    Matrix64 b(n, n, 2), whole(20, n), part(20, n), wide(n, n), narrow(n, n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        if (!inside(i, j)) b(i, j) = 0;
    Product64 p = product_of(a, b, whole);
    k().product64(p);
    p.c = part.data();
    p.triangle = triangle;
    k().product64(p);
    EXPECT_EQ(part.values, whole.values);
    TransposedProduct64 t{.m = 20,
                          .k = n,
                          .n = n,
                          .a = a.data(),
                          .lda = a.ld,
                          .b = a.data(),
                          .ldb = a.ld,
                          .c = wide.data(),
                          .ldc = wide.ld};
    k().transposed_product64(t);
    t.c = narrow.data();
    t.triangle = triangle;
    k().transposed_product64(t);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (inside(i, j)) {
          EXPECT_EQ(narrow(i, j), wide(i, j));
        }
      }
  }
}

TEST_P(Doubles, TransposeAndConversionsAreExact) {
  const Matrix64 from(19, 35, 1), scale(1, 35, 2), shift(1, 35, 3);
  const Matrix single(19, 35, 4);
  Matrix64 to(35, 19, 5), wide(19, 35, 6), plain(19, 35, 8);
  Matrix rounded(19, 35, 7);
  k().transpose64(from.data(), from.ld, 19, 35, 2, to.data(), to.ld);
  k().narrow(from.of(), from.data(), rounded.data());
  k().widen(single.of(), single.data(), scale.data(), shift.data(), wide.data());
  k().widen(single.of(), single.data(), nullptr, nullptr, plain.data());
  for (int64_t i = 0; i < 19; ++i)
    for (int64_t j = 0; j < 35; ++j) {
      EXPECT_EQ(to(j, i), 2 * from(i, j));
      EXPECT_EQ(rounded(i, j), static_cast<float>(from(i, j)));
      EXPECT_NEAR(wide(i, j), single(i, j) * scale(0, j) - shift(0, j), 1e-15);
      EXPECT_EQ(std::as_const(plain)(i, j), single(i, j));
    }
  EXPECT_TRUE(to.padding_is_zero() && rounded.padding_is_zero() && wide.padding_is_zero() &&
              plain.padding_is_zero());
}

TEST_P(Doubles, FunctionsOfRowsMatchTheirDefinitions) {
  const int64_t m = 5, n = 37;
  Matrix64 x(m, n, 9, 4);
  const double special[] = {0, -0.0, 1e-300, 30, -30, 750, -750, 0.6, -0.63, 1e-9};
  for (int64_t j = 0; j < std::ssize(special); ++j) x(0, j) = special[j];
  Matrix64 silu = x, tanh = x, relu = x, sum = x, scaled = x;
  const Matrix64 other(m, n, 10), scale(1, n, 11), shift(1, n, 12);
  k().silu64(x.of(), silu.data());
  k().tanh64(x.of(), tanh.data());
  k().relu64(x.of(), relu.data());
  k().add64(x.of(), sum.data(), other.data());
  k().scale_columns64(x.of(), scaled.data(), scale.data());
  std::vector<double> squares(m), products(m);
  k().row_squares64(x.of(), x.data(), squares.data());
  k().row_products64(x.of(), x.data(), shift.data(), products.data());
  for (int64_t i = 0; i < m; ++i) {
    double square = 0, product = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double v = std::as_const(x)(i, j), e = v / (1 + std::exp(-v)), t = std::tanh(v);
      EXPECT_NEAR(silu(i, j), e, 1e-15 * std::abs(e) + 1e-300);
      EXPECT_NEAR(tanh(i, j), t, 1e-15 * std::abs(t));
      EXPECT_EQ(relu(i, j), std::max(v, 0.0));
      EXPECT_EQ(sum(i, j), v + other(i, j));
      EXPECT_EQ(scaled(i, j), v * scale(0, j));
      square += v * v;
      product += v * shift(0, j);
    }
    EXPECT_NEAR(squares[static_cast<size_t>(i)] / square, 1, 1e-14);
    EXPECT_NEAR(products[static_cast<size_t>(i)], product, 1e-13 * std::sqrt(square * n));
  }
  for (const Matrix64* each : {&silu, &tanh, &relu, &sum, &scaled}) EXPECT_TRUE(each->padding_is_zero());
}

TEST_P(Doubles, TheLayerNormHasMeanZeroAndVarianceOne) {
  for (const int64_t n : {1, 5, 16, 64, 100}) {
    const Matrix64 x(3, n, 13, 5), scale(1, n, 14), shift(1, n, 15);
    Matrix64 y(3, n);
    k().layer_norm64(x.of(), x.data(), scale.data(), shift.data(), y.data());
    for (int64_t i = 0; i < 3; ++i) {
      double mean = 0, var = 0;
      for (int64_t j = 0; j < n; ++j) mean += x(i, j) / static_cast<double>(n);
      for (int64_t j = 0; j < n; ++j) var += (x(i, j) - mean) * (x(i, j) - mean) / static_cast<double>(n);
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(std::as_const(y)(i, j),
                    (x(i, j) - mean) / std::sqrt(var + 1e-5) * scale(0, j) + shift(0, j), 1e-13);
    }
    EXPECT_TRUE(y.padding_is_zero());
  }
}

TEST_P(Doubles, ExponentialsOfDifferencesAreThoseOfTheLibrary) {
  Matrix64 x(2, 709), less(1, 2);
  less(0, 1) = 0.25;
  for (int64_t j = 0; j < x.width; ++j)
    for (int64_t i = 0; i < 2; ++i) x(i, j) = -0.99713 * static_cast<double>(j) + 0.5;
  const Matrix64 before = x;
  k().exp_differences64(x.of(), x.data(), less.data(), 0.125);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < x.width; ++j) {
      const double power = std::min(0.125, before(i, j) - std::as_const(less)(0, i)), exact = std::exp(power);
      EXPECT_NEAR(std::as_const(x)(i, j), exact, 5e-16 * exact) << power;
    }
  EXPECT_TRUE(x.padding_is_zero());
}

TEST_P(Doubles, ExponentialsKeepNaNAndVanishFarBelow) {
  Matrix64 x(1, 3), less(1, 1);
  x(0, 0) = NAN;
  x(0, 1) = -INFINITY;
  x(0, 2) = -708;
  k().exp_differences64(x.of(), x.data(), less.data(), 0);
  EXPECT_TRUE(std::isnan(x(0, 0)));
  EXPECT_EQ(x(0, 1), 0);
  EXPECT_EQ(x(0, 2), 0);
}

TEST(Kernels, OfFloat64HaveTheSameBitsWithAndWithoutAVX512) {
  const Matrix64 a(60, 47, 1), b(47, 100, 2), bias(1, 100, 3), less(1, 60, 4);
  std::vector<std::vector<double>> found;
  for (const Kernels& k : all_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;  // has no fused multiply-add
    Matrix64 c(60, 100), squares(1, 60), sums(47, 100);
    Product64 p = product_of(a, b, c);
    p.bias = bias.data();
    k.product64(p);
    k.exp_differences64(c.of(), c.data(), less.data(), 0.5);
    k.row_squares64(c.of(), c.data(), squares.data());
    k.transposed_product64({.m = 60,
                            .k = 47,
                            .n = 100,
                            .a = a.data(),
                            .lda = a.ld,
                            .b = c.data(),
                            .ldb = c.ld,
                            .c = sums.data(),
                            .ldc = sums.ld});
    std::vector<double>& all = found.emplace_back(c.values);
    for (const Matrix64* one : {&squares, &sums})
      all.insert(all.end(), one->values.begin(), one->values.end());
  }
  for (const std::vector<double>& each : found) EXPECT_EQ(each, found.front());
}

SLIMBAYES_EVERY_TARGET(Doubles);

}  // namespace
}  // namespace slimbayes::kernels
