#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "slimbayes/kernels/kernels.h"

namespace slimbayes::kernels {

/// Each test of this room runs on every target of the processor.
class EveryTarget : public ::testing::TestWithParam<size_t> {
 protected:
  const Kernels& k() const { return all_kernels()[GetParam()]; }
};

inline std::string target_name(const ::testing::TestParamInfo<size_t>& info) {
  return all_kernels()[info.param].target;
}

#define SLIMBAYES_EVERY_TARGET(Suite) \
  INSTANTIATE_TEST_SUITE_P(Targets, Suite, ::testing::Range<size_t>(0, all_kernels().size()), target_name)

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A matrix of normal numbers with padded rows, zero in the padding.
template <class Number>
struct MatrixOf {
  int64_t rows, width, ld;
  std::vector<Number> values;

  MatrixOf(int64_t rows, int64_t width, uint64_t seed = 0, Number scale = 1)
      : rows(rows), width(width), ld(padded(width)), values(static_cast<size_t>(rows * ld)) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<Number> normal;
    if (seed > 0)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j) (*this)(i, j) = scale * normal(bits);
  }
  Number& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * ld + j)]; }
  double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * ld + j)]; }
  Number* data() { return values.data(); }
  const Number* data() const { return values.data(); }
  Rows of() const { return {rows, width, ld}; }

  bool padding_is_zero() const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = width; j < ld; ++j)
        if (values[static_cast<size_t>(i * ld + j)] != 0) return false;
    return true;
  }
};
using Matrix = MatrixOf<float>;
using Matrix64 = MatrixOf<double>;

/// The product c = a b, with a bias [1, n] unless it is nullptr.
inline Product64 product_of(const Matrix64& a, const Matrix64& b, Matrix64& c, const Matrix64* bias = nullptr,
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

}  // namespace slimbayes::kernels
