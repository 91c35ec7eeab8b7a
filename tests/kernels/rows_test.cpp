#include "tests/kernels/rows.h"

namespace slimbayes::kernels {
namespace {

class RowKernels : public EveryTarget {};

/// The layer norm of a row in float64.
std::vector<double> normed(const Matrix& x, int64_t i, const Matrix& scale, const Matrix& shift) {
  double mean = 0, var = 0;
  for (int64_t j = 0; j < x.width; ++j) mean += x(i, j) / static_cast<double>(x.width);
  for (int64_t j = 0; j < x.width; ++j) var += std::pow(x(i, j) - mean, 2) / static_cast<double>(x.width);
  std::vector<double> y;
  for (int64_t j = 0; j < x.width; ++j)
    y.push_back((x(i, j) - mean) / std::sqrt(var + 1e-5) * scale(0, j) + shift(0, j));
  return y;
}

TEST_P(RowKernels, LayerNormIsThatOfFloat64) {
  for (const int64_t n : {1, 3, 16, 47, 64}) {
    const Matrix x(9, n, 1, 3), scale(1, n, 2), shift(1, n, 3);
    Matrix y(9, n, 4), unit(9, n), inverse(1, 9);
    y.values.assign(y.values.size(), 0);
    k().layer_norm(x.of(), x.data(), scale.data(), shift.data(), y.data(), unit.data(), inverse.data());
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(std::as_const(y)(i, j), normed(x, i, scale, shift)[static_cast<size_t>(j)], 5e-6);
    EXPECT_TRUE(y.padding_is_zero() && unit.padding_is_zero());
  }
}

// A variance that overflows would otherwise give the same numbers for every such row.
TEST_P(RowKernels, LayerNormOfNumbersThatCannotBeSquaredIsNan) {
  Matrix x(2, 5, 1), scale(1, 5, 2), shift(1, 5, 3), y(2, 5), unit(2, 5), inverse(1, 2);
  x(0, 1) = 1e30F;
  k().layer_norm(x.of(), x.data(), scale.data(), shift.data(), y.data(), unit.data(), inverse.data());
  for (int64_t j = 0; j < 5; ++j) {
    EXPECT_TRUE(std::isnan(std::as_const(y)(0, j)));
    EXPECT_TRUE(std::isfinite(std::as_const(y)(1, j)));
  }
}

TEST_P(RowKernels, LayerNormBackwardIsTheDifferenceQuotient) {
  for (const int64_t n : {3, 19, 64}) {
    const Matrix x(4, n, 1), scale(1, n, 2), shift(1, n, 3), g(4, n, 5);
    Matrix y(4, n), unit(4, n), inverse(1, 4), back = g, grad_scale(1, n), grad_shift(1, n);
    k().layer_norm(x.of(), x.data(), scale.data(), shift.data(), y.data(), unit.data(), inverse.data());
    k().layer_norm_backward(x.of(), back.data(), unit.data(), inverse.data(), scale.data(), grad_scale.data(),
                            grad_shift.data());
    const auto loss = [&](const Matrix& in, const Matrix& by, const Matrix& plus) {
      double sum = 0;
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < n; ++j) sum += g(i, j) * normed(in, i, by, plus)[static_cast<size_t>(j)];
      return sum;
    };
    for (int64_t j = 0; j < n; j += 2) {
      const auto place = static_cast<size_t>(j);
      Matrix high = x, low = x, by = scale, plus = shift;
      high(2, j) += 0x1p-9F;
      low(2, j) -= 0x1p-9F;
      const double step = std::as_const(high)(2, j) - std::as_const(low)(2, j);
      EXPECT_NEAR(std::as_const(back)(2, j), (loss(high, scale, shift) - loss(low, scale, shift)) / step,
                  1e-4)
          << n;
      by.values[place] += 1;
      plus.values[place] += 1;
      EXPECT_NEAR(grad_scale.values[place], loss(x, by, shift) - loss(x, scale, shift), 1e-5)
          << n;  // both linear
      EXPECT_NEAR(grad_shift.values[place], loss(x, scale, plus) - loss(x, scale, shift), 1e-5) << n;
    }
    EXPECT_TRUE(back.padding_is_zero() && grad_scale.padding_is_zero());
  }
}

TEST_P(RowKernels, SumsAndProductsAreThoseOfFloat64) {
  for (const int64_t n : {1, 16, 47, 130}) {
    const Matrix x(11, n, 1), other(11, n, 2), with(1, n, 3), scale(1, 11, 4);
    std::vector<float> sums(static_cast<size_t>(n) + 1, 1), products = sums;
    Matrix squares(1, 11), dots(1, 11), sum = x, columns = x, shifted = x, rows = x, outer = x, scaled = x;
    k().add_column_sums(x.of(), x.data(), 0.5F, sums.data());
    k().add_column_products(x.of(), x.data(), other.data(), products.data());
    k().row_squares(x.of(), x.data(), squares.data());
    k().row_products(x.of(), x.data(), with.data(), dots.data());
    k().add(x.of(), sum.data(), other.data());
    k().scale_columns(x.of(), columns.data(), with.data());
    k().scale_shift_columns(x.of(), shifted.data(), with.data(), other.data());
    k().scale_rows(x.of(), rows.data(), scale.data());
    k().add_scaled_rows(x.of(), scaled.data(), scale.data(), other.data());
    k().add_outer(x.of(), outer.data(), scale.data(), with.data());
    for (int64_t j = 0; j < n; ++j) {
      double all = 0, product = 0;
      for (int64_t i = 0; i < 11; ++i) {
        all += x(i, j);
        product += x(i, j) * other(i, j);
      }
      EXPECT_NEAR(sums[static_cast<size_t>(j)], 1 + 0.5 * all, 1e-5);
      EXPECT_NEAR(products[static_cast<size_t>(j)], 1 + product, 1e-5);
    }
    EXPECT_EQ(sums.back(), 1);
    EXPECT_EQ(products.back(), 1);
    for (int64_t i = 0; i < 11; ++i) {
      double square = 0, dot = 0;
      for (int64_t j = 0; j < n; ++j) {
        square += x(i, j) * x(i, j);
        dot += x(i, j) * with(0, j);
        EXPECT_FLOAT_EQ(sum(i, j), static_cast<float>(x(i, j) + other(i, j)));
        EXPECT_FLOAT_EQ(columns(i, j), static_cast<float>(x(i, j) * with(0, j)));
        EXPECT_NEAR(std::as_const(shifted)(i, j), x(i, j) * with(0, j) + other(0, j), 1e-6);
        EXPECT_FLOAT_EQ(rows(i, j), static_cast<float>(x(i, j) * scale(0, i)));
        EXPECT_NEAR(scaled(i, j), x(i, j) + scale(0, i) * other(i, j), 1e-6);
        EXPECT_NEAR(outer(i, j), x(i, j) + scale(0, i) * with(0, j), 1e-6);
      }
      EXPECT_NEAR(squares.values[static_cast<size_t>(i)], square, 1e-5 * (1 + square));
      EXPECT_NEAR(dots.values[static_cast<size_t>(i)], dot, 1e-4);
    }
  }
}

TEST_P(RowKernels, AdamWIsThatOfFloat64) {
  const int64_t n = 37;
  Matrix value(1, n, 1), first(1, n), second(1, n);
  std::vector<double> x, m(static_cast<size_t>(n)), v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x.push_back(std::as_const(value)(0, i));
  for (int t = 1; t <= 5; ++t) {
    const Matrix g(1, n, static_cast<uint64_t>(10 + t));
    const double c1 = 1 - std::pow(0.9, t), c2 = 1 - std::pow(0.999, t);
    k().adamw(n,
              {.rate = 0.01F,
               .decay = 0.1F,
               .correction1 = static_cast<float>(c1),
               .correction2 = static_cast<float>(c2)},
              value.data(), g.data(), first.data(), second.data());
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const double slope = g.values[i];
      m[i] = 0.9 * m[i] + 0.1 * slope;
      v[i] = 0.999 * v[i] + 0.001 * slope * slope;
      x[i] = x[i] * (1 - 0.01 * 0.1) - 0.01 / c1 * m[i] / (std::sqrt(v[i]) / std::sqrt(c2) + 1e-8);
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) EXPECT_NEAR(value.values[i], x[i], 2e-6);
  EXPECT_TRUE(value.padding_is_zero());  // nothing beyond n is written
}

SLIMBAYES_EVERY_TARGET(RowKernels);

}  // namespace
}  // namespace slimbayes::kernels
