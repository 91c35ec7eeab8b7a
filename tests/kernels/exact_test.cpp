#include "slimbayes/kernels/exact.h"

#include <cstring>
#include <random>
#include <utility>

#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class Exact : public EveryTarget {
 protected:
  const ExactKernels& k() const { return all_exact_kernels()[GetParam()]; }
};

/// A matrix of normal numbers with padded rows, zero in the padding.
struct WideMatrix {
  int64_t rows, width, ld;
  std::vector<double> values;

  WideMatrix(int64_t rows, int64_t width, uint64_t seed = 0, double scale = 1)
      : rows(rows), width(width), ld(padded(width)), values(static_cast<size_t>(rows * ld)) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    if (seed > 0)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j) (*this)(i, j) = scale * normal(bits);
  }
  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * ld + j)]; }
  double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * ld + j)]; }
  double* data() { return values.data(); }
  const double* data() const { return values.data(); }
  Rows of() const { return {rows, width, ld}; }
  bool padding_is_zero() const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = width; j < ld; ++j)
        if (values[static_cast<size_t>(i * ld + j)] != 0) return false;
    return true;
  }
};

struct Sizes {
  int64_t m, k, n;
};
constexpr Sizes kShapes[] = {{1, 1, 1},    {1, 64, 128}, {60, 26, 64}, {7, 64, 128}, {60, 3, 5},
                             {13, 17, 33}, {2, 128, 1},  {23, 1, 100}, {0, 4, 4},    {70, 50, 47}};

Product64 product_of(const WideMatrix& a, const WideMatrix& b, WideMatrix& c, const WideMatrix* bias,
                     Triangle triangle = Triangle::full) {
  return {.m = a.rows,
          .k = a.width,
          .n = b.width,
          .a = a.data(),
          .lda = a.ld,
          .b = b.data(),
          .ldb = b.ld,
          .c = c.data(),
          .ldc = c.ld,
          .bias = bias == nullptr ? nullptr : bias->data(),
          .triangle = triangle};
}

/// The product and its row's squares are those of sums in long double, up to the rounding of k terms.
TEST_P(Exact, ProductsAreThoseOfLongDoubles) {
  for (const auto& [m, k, n] : kShapes) {
    const WideMatrix a(m, k, 1), b(k, n, 2), bias(1, n, 3);
    for (const WideMatrix* shift : {static_cast<const WideMatrix*>(nullptr), &bias}) {
      WideMatrix c(m, n);
      this->k().product(product_of(a, b, c, shift));
      std::vector<double> squares(static_cast<size_t>(m), -1);
      this->k().product_squares(product_of(a, b, c, shift), squares.data());
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
TEST_P(Exact, ATriangleAndASingleRowHaveTheBitsOfTheWholeProduct) {
  for (const int64_t n : {1, 5, 16, 47, 128, 200}) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const WideMatrix a(61, n, 5);
      WideMatrix b(n, n, 6), whole(61, n), part(61, n), alone(1, n);
      for (int64_t p = 0; p < n; ++p)
        for (int64_t j = 0; j < n; ++j)
          if (triangle == Triangle::lower ? p < j : p > j) b(p, j) = 0;
      k().product(product_of(a, b, whole, nullptr));
      k().product(product_of(a, b, part, nullptr, triangle));
      EXPECT_EQ(whole.values, part.values) << n;
      std::vector<double> squares(61), one(1);
      k().product_squares(product_of(a, b, part, nullptr, triangle), squares.data());
      for (const int64_t i : {0, 17, 60}) {
        Product64 single = product_of(a, b, alone, nullptr, triangle);
        single.m = 1;
        single.a += i * a.ld;
        k().product(single);
        EXPECT_EQ(0, std::memcmp(alone.data(), whole.data() + i * whole.ld,
                                 static_cast<size_t>(n) * sizeof(double)));
        k().product_squares(single, one.data());
        EXPECT_EQ(one[0], squares[static_cast<size_t>(i)]);
      }
    }
  }
}

TEST_P(Exact, TheGaussianKernelIsTheExponentialOfTheSquaredDistance) {
  for (const auto& [m, d, n] : {Sizes{1, 8, 318}, {7, 1, 33}, {60, 26, 5}}) {
    const WideMatrix a(m, d, 7), b(d, n, 8, 2);
    WideMatrix c(m, n);
    k().gaussian_kernel(product_of(a, b, c, nullptr), 1.7);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < d; ++p) sum += (a(i, p) - b(p, j)) * (a(i, p) - b(p, j));
        const double expected = 1.7 * std::exp(-0.5 * sum);
        EXPECT_NEAR(std::as_const(c)(i, j), expected, 1e-13 * expected);
      }
  }
  WideMatrix far(1, 1), zero(1, 1), c(1, 1);
  far(0, 0) = 1e5;
  k().gaussian_kernel(product_of(far, zero, c, nullptr), 1);
  EXPECT_EQ(c(0, 0), 0);
}

TEST_P(Exact, FunctionsOfRowsMatchTheirDefinitions) {
  const int64_t m = 5, n = 37;
  WideMatrix x(m, n, 9, 4);
  const double special[] = {0, -0.0, 1e-300, 30, -30, 750, -750, 0.6, -0.63, 1e-9};
  for (int64_t j = 0; j < std::ssize(special); ++j) x(0, j) = special[j];
  WideMatrix silu = x, tanh = x, relu = x, sum = x, scaled = x;
  const WideMatrix other(m, n, 10), scale(1, n, 11), shift(1, n, 12);
  k().silu(x.of(), silu.data());
  k().tanh(x.of(), tanh.data());
  k().relu(x.of(), relu.data());
  k().add(x.of(), sum.data(), other.data());
  k().scale_columns(x.of(), scaled.data(), scale.data());
  std::vector<double> squares(m), products(m);
  k().row_squares(x.of(), x.data(), squares.data());
  k().row_products(x.of(), x.data(), shift.data(), products.data());
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
  for (const WideMatrix* each : {&silu, &tanh, &relu, &sum, &scaled}) EXPECT_TRUE(each->padding_is_zero());
}

TEST_P(Exact, TheLayerNormHasMeanZeroAndVarianceOne) {
  for (const int64_t n : {1, 5, 16, 64, 100}) {
    const WideMatrix x(3, n, 13, 5), scale(1, n, 14), shift(1, n, 15);
    WideMatrix y(3, n);
    k().layer_norm(x.of(), x.data(), scale.data(), shift.data(), y.data());
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

TEST_P(Exact, WideningIsExact) {
  Matrix x(3, 21, 16);
  WideMatrix y(3, 21);
  k().widen(x.of(), x.data(), y.data());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 21; ++j) EXPECT_EQ(std::as_const(y)(i, j), std::as_const(x)(i, j));
}

/// AVX2, AVX-512 and NEON have the same bits, as kernels.h says.
TEST(ExactTargets, HaveTheSameBits) {
  std::vector<double> first;
  for (const ExactKernels& k : all_exact_kernels()) {
    if (std::string_view(k.target) == "SSE4") continue;
    const WideMatrix a(13, 47, 21), b(47, 100, 22, 0.2), scale(1, 100, 23), shift(1, 100, 24);
    WideMatrix c(13, 100), y(13, 100), kernel(13, 100);
    k.product(product_of(a, b, c, nullptr));
    k.layer_norm(c.of(), c.data(), scale.data(), shift.data(), y.data());
    k.silu(y.of(), y.data());
    k.tanh(y.of(), y.data());
    k.gaussian_kernel(product_of(a, b, kernel, nullptr), 2);
    std::vector<double> all(13);
    k.product_squares(product_of(a, b, c, nullptr), all.data());
    for (int64_t i = 0; i < 13; ++i)
      for (int64_t j = 0; j < 100; ++j) {
        all.push_back(std::as_const(y)(i, j));
        all.push_back(std::as_const(kernel)(i, j));
      }
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << k.target;
  }
}

SLIMBAYES_EVERY_TARGET(Exact);

}  // namespace
}  // namespace slimbayes::kernels
