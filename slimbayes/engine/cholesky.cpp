#include "slimbayes/engine/cholesky.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slimbayes::engine {

using kernels::Triangle;

namespace {

constexpr int64_t kBlock = kernels::kPad;
constexpr auto kSize = static_cast<size_t>(kBlock);
using Block = std::array<std::array<double, kSize>, kSize>;

/// Reads the upper triangle of a block and factorises it, u = U with U^T U = the block. Returns false if a
/// pivot is not positive.
bool factorise_block(const double* k, int64_t n, Block& u) {
  for (size_t i = 0; i < kSize; ++i)
    for (size_t j = 0; j < kSize; ++j)
      u[i][j] = j < i ? 0 : k[static_cast<int64_t>(i) * n + static_cast<int64_t>(j)];
  for (size_t p = 0; p < kSize; ++p) {
    if (!(u[p][p] > 0)) return false;
    const double inverse = 1 / std::sqrt(u[p][p]);
    for (double& each : u[p]) each *= inverse;
    for (size_t q = p + 1; q < kSize; ++q) {
      const double factor = u[p][q];
      for (size_t j = 0; j < kSize; ++j) u[q][j] -= j < q ? 0 : factor * u[p][j];
    }
  }
  return true;
}

/// Returns U^-1, row by row from the last one.
Block inverse_of(const Block& u) {
  Block w = {};
  for (size_t p = kSize; p-- > 0;) {
    w[p][p] = 1;
    for (size_t q = p + 1; q < kSize; ++q)
      for (size_t j = 0; j < kSize; ++j) w[p][j] -= u[p][q] * w[q][j];
    for (double& each : w[p]) each /= u[p][p];
  }
  return w;
}

}  // namespace

UpperFactor::UpperFactor(int64_t n, const kernels::Kernels& kernels)
    : n_(n),
      kernels_(kernels),
      upper_(n * n),
      lower_(n * n),
      inverses_(n * kBlock),
      transposed_inverses_(n * kBlock),
      panel_(n * kBlock) {}

// By blocks of 16 rows: U_jj from the diagonal block, and U_j,rest = U_jj^-T K_j,rest. Then K_rest,rest loses
// U_j,rest^T U_j,rest: at once in the other rows of a panel of 64, and once a panel in those behind it, so
// that memory is read a fourth as often.
bool UpperFactor::factorise(const double* k) {
  constexpr int64_t kPanel = 4 * kBlock;
  double* u = upper_.data();
  std::copy_n(k, n_ * n_, u);
  for (int64_t first = 0; first < n_; first += kPanel) {
    const int64_t behind = std::min(n_, first + kPanel);
    for (int64_t j = first; j < behind; j += kBlock) {
      if (!factorise_rows(j)) return false;
      take(j, j + kBlock, j + kBlock, behind);
    }
    take(first, behind, behind, n_);
  }
  kernels_.transpose64(u, n_, n_, n_, 1, lower_.data(), n_);
  return true;
}

/// Factorises 16 rows from whose columns the rows above are taken. Returns false if a pivot is not positive.
bool UpperFactor::factorise_rows(int64_t j) {
  double *u = upper_.data(), *panel = panel_.data();
  Block own;
  if (!factorise_block(u + j * n_ + j, n_, own)) return false;
  const Block w = inverse_of(own);
  double *inverse = inverses_.data() + j * kBlock, *transposed = transposed_inverses_.data() + j * kBlock;
  for (size_t p = 0; p < kSize; ++p)
    for (size_t q = 0; q < kSize; ++q) {
      u[(j + static_cast<int64_t>(p)) * n_ + j + static_cast<int64_t>(q)] = own[p][q];
      inverse[p * kSize + q] = w[p][q];
      transposed[q * kSize + p] = w[p][q];
    }
  const int64_t after = j + kBlock, rest = n_ - after;
  if (rest == 0) return true;
  kernels_.product64({.m = kBlock,
                      .k = kBlock,
                      .n = rest,
                      .a = transposed,
                      .lda = kBlock,
                      .b = u + j * n_ + after,
                      .ldb = n_,
                      .c = panel,
                      .ldc = n_});
  for (int64_t i = 0; i < kBlock; ++i) std::copy_n(panel + i * n_, rest, u + (j + i) * n_ + after);
  return true;
}

/// Takes U_p^T U_p of the rows p from `from` to `to` from the upper triangle of the rows from `low` to
/// `high`.
void UpperFactor::take(int64_t from, int64_t to, int64_t low, int64_t high) {
  if (low >= high) return;
  double* u = upper_.data();
  kernels_.transposed_product64({.m = to - from,
                                 .k = high - low,
                                 .n = n_ - low,
                                 .a = u + from * n_ + low,
                                 .lda = n_,
                                 .b = u + from * n_ + low,
                                 .ldb = n_,
                                 .c = u + low * n_ + low,
                                 .ldc = n_,
                                 .scale = -1,
                                 .triangle = Triangle::upper});
}

/// Takes the columns `from` to `to`, which are done, from the 16 columns at j and divides these by U_jj or
/// its transpose.
void UpperFactor::divide_block(int64_t rows, int64_t j, int64_t from, int64_t to, const double* factor,
                               const double* inverse, double* x, double* work) const {
  if (from == to) {
    for (int64_t i = 0; i < rows; ++i) std::copy_n(x + i * n_ + j, kBlock, work + i * kBlock);
  } else {
    kernels_.product64({.m = rows,
                        .k = to - from,
                        .n = kBlock,
                        .a = x + from,
                        .lda = n_,
                        .b = factor + from * n_ + j,
                        .ldb = n_,
                        .c = work,
                        .ldc = kBlock});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t v = 0; v < kBlock; ++v) work[i * kBlock + v] = x[i * n_ + j + v] - work[i * kBlock + v];
  }
  kernels_.product64({.m = rows,
                      .k = kBlock,
                      .n = kBlock,
                      .a = work,
                      .lda = kBlock,
                      .b = inverse,
                      .ldb = kBlock,
                      .c = x + j,
                      .ldc = n_});
}

// Row i of U^-1 is 0 before column i, so that a panel of rows begins at the column of its first one.
void UpperFactor::invert(double* x, double* work) const {
  std::fill_n(x, n_ * n_, 0.0);
  for (int64_t i = 0; i < n_; ++i) x[i * n_ + i] = 1;
  for (int64_t p = 0; p < n_; p += kInvertRows)
    for (int64_t j = p; j < n_; j += kBlock)
      divide_block(std::min(kInvertRows, n_ - p), j, p, j, upper_.data(), inverse(j / kBlock), x + p * n_,
                   work);
}

void UpperFactor::divide(int64_t rows, double* x, double* work) const {
  for (int64_t j = 0; j < n_; j += kBlock)
    divide_block(rows, j, 0, j, upper_.data(), inverse(j / kBlock), x, work);
}

void UpperFactor::divide_transposed(int64_t rows, double* x, double* work) const {
  for (int64_t j = n_ - kBlock; j >= 0; j -= kBlock)
    divide_block(rows, j, j + kBlock, n_, lower_.data(), inverse_transposed(j / kBlock), x, work);
}

}  // namespace slimbayes::engine
