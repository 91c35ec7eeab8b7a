#pragma once

#include <cstdint>

#include "slimbayes/kernels/kernels.h"

namespace slimbayes::kernels {

// The kernels in float64, for what a prediction computes in float64: posteriors, the features of dbk-exact,
// the kernel of gp-exact. "Padded" means the same as in kernels.h, with doubles; so do the promises on bits.

/// The kernels of one target. Functions of rows act in place unless a second array is named.
struct ExactKernels {
  const char* target = "";

  void (*product)(const Product64&) = nullptr;
  /// squares[i] = sum_j c[i, j]^2 of the product c, which is not stored.
  void (*product_squares)(const Product64&, double* squares) = nullptr;
  /// c[i, j] = scale exp(-1/2 sum_p (a[i, p] - b[p, j])^2). Also fills the padding of c, with other numbers.
  void (*gaussian_kernel)(const Product64&, double scale) = nullptr;

  void (*silu)(Rows, double* x) = nullptr;
  void (*tanh)(Rows, double* x) = nullptr;
  void (*relu)(Rows, double* x) = nullptr;
  /// As Kernels::layer_norm.
  void (*layer_norm)(Rows, const double* x, const double* scale, const double* shift, double* y) = nullptr;
  void (*add)(Rows, double* x, const double* other) = nullptr;            // x += other
  void (*scale_columns)(Rows, double* x, const double* scale) = nullptr;  // x[:, j] *= scale[j]
  void (*row_squares)(Rows, const double* x, double* squares) = nullptr;  // [rows]: sum_j x^2
  void (*row_products)(Rows, const double* x, const double* with, double* out) = nullptr;
  void (*widen)(Rows, const float* x, double* out) = nullptr;  // both with the same stride
};

/// Return the tables of the same targets as kernels() and all_kernels() (kernels.h), in their order.
const ExactKernels& exact_kernels();
const std::vector<ExactKernels>& all_exact_kernels();

}  // namespace slimbayes::kernels
