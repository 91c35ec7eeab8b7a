#pragma once

#include <cstdint>

#include "slimbayes/engine/buffer.h"

namespace slimbayes::engine {

/// The factor U of a symmetric positive definite matrix K = U^T U, upper triangular, in float64, and products
/// with its inverse by substitution, 16 columns at a time. n is a multiple of kernels::kPad.
class UpperFactor {
 public:
  UpperFactor(int64_t n, const kernels::Kernels& kernels);

  /// Factorises K [n, n], of which only the upper triangle is read. Returns false, and is then of no use, if
  /// K is not positive definite or has a NaN.
  bool factorise(const double* k);

  /// Return how many doubles the functions below need for rows.
  static int64_t work_doubles(int64_t rows) { return rows * kernels::kPad; }
  /// Writes U^-1 to x [n, n], with a third of the operations that divide() takes for the unit matrix.
  void invert(double* x, double* work) const;
  /// The rows that invert() needs work for.
  static constexpr int64_t kInvertRows = 4 * kernels::kPad;
  /// x := x U^-1 and x := x U^-T, in place, for x [rows, n].
  void divide(int64_t rows, double* x, double* work) const;
  void divide_transposed(int64_t rows, double* x, double* work) const;

 private:
  const double* inverse(int64_t block) const {
    return inverses_.data() + block * kernels::kPad * kernels::kPad;
  }
  const double* inverse_transposed(int64_t block) const {
    return transposed_inverses_.data() + block * kernels::kPad * kernels::kPad;
  }
  bool factorise_rows(int64_t j);
  void take(int64_t from, int64_t to, int64_t low, int64_t high);
  void divide_block(int64_t rows, int64_t j, int64_t from, int64_t to, const double* factor,
                    const double* inverse, double* x, double* work) const;

  int64_t n_;
  const kernels::Kernels& kernels_;
  Doubles upper_, lower_;                   // U and U^T [n, n]
  Doubles inverses_, transposed_inverses_;  // of each block U_jj: U_jj^-1 and U_jj^-T [16, 16]
  Doubles panel_;                           // [16, n]
};

}  // namespace slimbayes::engine
