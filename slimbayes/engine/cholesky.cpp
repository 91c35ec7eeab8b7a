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

// By blocks of 16 rows: U_jj from the diagonal block, U_j,rest = U_jj^-T K_j,rest, and K_rest,rest loses
// U_j,rest^T U_j,rest.
bool UpperFactor::factorise(const double* k) {
  double *u = upper_.data(), *panel = panel_.data();
  std::copy_n(k, n_ * n_, u);
  for (int64_t j = 0; j < n_; j += kBlock) {
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
    if (rest == 0) break;
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
    kernels_.transposed_product64({.m = kBlock,
                                   .k = rest,
                                   .n = rest,
                                   .a = panel,
                                   .lda = n_,
                                   .b = panel,
                                   .ldb = n_,
                                   .c = u + after * n_ + after,
                                   .ldc = n_,
                                   .scale = -1,
                                   .triangle = Triangle::upper});
  }
  kernels_.transpose64(u, n_, n_, n_, 1, lower_.data(), n_);
  return true;
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

void UpperFactor::divide(int64_t rows, double* x, double* work) const {
  for (int64_t j = 0; j < n_; j += kBlock)
    divide_block(rows, j, 0, j, upper_.data(), inverse(j / kBlock), x, work);
}

void UpperFactor::divide_transposed(int64_t rows, double* x, double* work) const {
  for (int64_t j = n_ - kBlock; j >= 0; j -= kBlock)
    divide_block(rows, j, j + kBlock, n_, lower_.data(), inverse_transposed(j / kBlock), x, work);
}

}  // namespace slimbayes::engine
