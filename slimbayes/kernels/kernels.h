#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes::kernels {

// Kernels are the inner loops of the engine: small matrix products and functions of rows, of float32 numbers
// and, for Gram matrices and predictions, of float64 numbers (names that end in 64). They are written once
// and compiled for several instruction sets (targets). This header shows no SIMD types; the engine calls
// through a table of function pointers, one table for each target.
//
// A matrix has a row stride `ld` in numbers. Where a comment says "padded", the stride is a multiple of kPad,
// and the elements of a row from its width up to the next multiple of kPad are zero. Kernels may read and
// write them, and keep them zero.
//
// The same arguments give the same bits on AVX2, AVX-512 and NEON: every element of a product is one chain of
// fused multiply-adds in the order of the summed index, and every sum over a row goes through the same tree
// of 16 partial sums, whatever the width of a register. SSE4 has no fused multiply-add; its bits differ.

/// Rows are padded to a multiple of this number of elements.
inline constexpr int64_t kPad = 16;

/// Returns n rounded up to a multiple of kPad.
constexpr int64_t padded(int64_t n) { return (n + kPad - 1) / kPad * kPad; }

/// Which elements of a matrix may differ from zero, or are wanted.
enum class Triangle : uint8_t {
  full,
  lower,  // [p, j] only for p >= j: a lower triangular matrix
  upper   // [p, j] only for p <= j
};

/// c = a b + bias. a [m, k], b [k, n] padded, c [m, n] padded. bias [n] padded, or nullptr for none.
template <class Number>
struct ProductOf {
  int64_t m = 0, k = 0, n = 0;
  const Number* a = nullptr;
  int64_t lda = 0;
  const Number* b = nullptr;
  int64_t ldb = 0;
  Number* c = nullptr;
  int64_t ldc = 0;
  const Number* bias = nullptr;
  Triangle triangle = Triangle::full;  // of b; k == n unless full
};
using Product = ProductOf<float>;
using Product64 = ProductOf<double>;

/// c += scale a^T b, where m is the summed index. a [m, k], b [m, n] padded, c [k, n] with any stride;
/// nothing is written beyond column n. Elements of c beyond `triangle` may or may not change.
template <class Number>
struct TransposedProductOf {
  int64_t m = 0, k = 0, n = 0;
  const Number* a = nullptr;
  int64_t lda = 0;
  const Number* b = nullptr;
  int64_t ldb = 0;
  Number* c = nullptr;
  int64_t ldc = 0;
  Number scale = 1;
  Triangle triangle = Triangle::full;  // of c
};
using TransposedProduct = TransposedProductOf<float>;
using TransposedProduct64 = TransposedProductOf<double>;

/// Rows that a kernel reads or changes: `rows` rows of `width` floats, padded, all with the same stride.
struct Rows {
  int64_t rows = 0, width = 0, ld = 0;
};

/// The constants of one step of AdamW.
struct AdamWStep {
  float rate = 1e-3F, decay = 0;  // learning rate; decoupled weight decay
  float beta1 = 0.9F, beta2 = 0.999F, eps = 1e-8F;
  float correction1 = 1, correction2 = 1;  // 1 - beta1^t and 1 - beta2^t
};

/// An embedding of each of `columns` numbers of a row: y[j out + o] = shift[j (out - 1) + o] + sum_k
/// weight[j (out - 1) + o, k] cos(2 pi (frequency[j, k] x[j] + phase[j, k])) for o < out - 1, and y[j out +
/// out - 1] = x[j]. The parameters have a row of `frequencies` numbers, padded, for each j, and of the weight
/// for each j and o.
struct PeriodicRows {
  int64_t rows = 0, columns = 0, frequencies = 0, out = 0;
  const float *frequency = nullptr, *phase = nullptr, *weight = nullptr;
  float *cosine = nullptr, *sine = nullptr;  // [rows, columns, padded(frequencies)], left by the forward pass
};

/// The gradients of an embedding, to which the backward pass adds: contiguous, without padding; nullptr where
/// none is needed. `phase` receives the derivative by the phase in radians, although PeriodicRows::phase is
/// in turns.
struct PeriodicGradients {
  float *frequency = nullptr, *phase = nullptr, *weight = nullptr, *shift = nullptr;
};

/// One step of an LSTM with a forget gate (Gers, Schmidhuber and Cummins 2000) for `rows` rows whose hidden
/// state has `width` numbers: i, f and o = sigmoid, g = tanh of the gates' sums, cell = f before + i g,
/// hidden = o tanh(cell). All arrays are padded and contiguous; the padding of the gates' values is not zero.
struct LstmCell {
  int64_t rows = 0, width = 0;
  float* gates = nullptr;         // [rows, 4, width], in the order i, f, g, o: the sums, then the values
  const float* before = nullptr;  // [rows, width]: the cell before this step; nullptr: zero
  float *cell = nullptr, *squashed = nullptr;  // [rows, width]: the cell and tanh(cell)
};

/// The kernels of one target. Functions of rows act in place unless a second array is named.
struct Kernels {
  const char* target = "";  // "AVX3" (AVX-512), "AVX2", "SSE4", "NEON"

  // Products
  void (*product)(const Product&) = nullptr;
  void (*transposed_product)(const TransposedProduct&) = nullptr;
  /// to [columns, rows] padded = scale times the transpose of from [rows, columns], stride `ld`.
  void (*transpose)(const float* from, int64_t ld, int64_t rows, int64_t columns, float scale, float* to,
                    int64_t to_ld) = nullptr;

  // Activations, in place. `slope` [rows, width] padded becomes the derivative at each element, by which
  // backward multiplies the gradient.
  void (*silu)(Rows, float* x, float* slope) = nullptr;
  void (*tanh)(Rows, float* x, float* slope) = nullptr;
  void (*relu)(Rows, float* x, float* slope) = nullptr;
  void (*mish)(Rows, float* x, float* slope) = nullptr;            // x tanh(log(1 + exp x)) (Misra 2019)
  void (*smooth_clip)(Rows, float* x, float* slope) = nullptr;     // x / sqrt(1 + (x / 3)^2)
  void (*multiply)(Rows, float* x, const float* other) = nullptr;  // x *= other

  /// y [rows, columns out] padded; x and the gradient g of y have rows of any stride.
  void (*periodic)(const PeriodicRows&, const float* x, int64_t ldx, const float* shift, float* y,
                   int64_t ldy) = nullptr;
  void (*periodic_backward)(const PeriodicRows&, const float* x, int64_t ldx, const float* g, int64_t ldg,
                            const PeriodicGradients&) = nullptr;

  // Layer norm over the width: y = scale (x - mean) / sd + shift with sd = sqrt(var + 1e-5). Forward stores
  // (x - mean) / sd in `unit` [rows, width] and 1 / sd in `inverse_sd` [rows]; a row whose variance overflows
  // becomes NaN. Backward adds the gradients of scale and shift [width] to theirs, where these are not
  // nullptr. scale and shift are padded.
  void (*layer_norm)(Rows, const float* x, const float* scale, const float* shift, float* y, float* unit,
                     float* inverse_sd) = nullptr;
  void (*layer_norm_backward)(Rows, float* g, const float* unit, const float* inverse_sd, const float* scale,
                              float* grad_scale, float* grad_shift) = nullptr;

  /// Computes the step and stores the hidden state, with the row stride `ld`.
  void (*lstm)(const LstmCell&, float* hidden, int64_t ld) = nullptr;
  /// grad_hidden, grad_cell [rows, width] padded. Turns the gates' values into the gradients of their sums,
  /// and grad_cell, the gradient of the cell without its part through grad_hidden, into that of the cell
  /// before.
  void (*lstm_backward)(const LstmCell&, const float* grad_hidden, float* grad_cell) = nullptr;

  // Rows and columns
  void (*add)(Rows, float* x, const float* other) = nullptr;            // x += other
  void (*scale_columns)(Rows, float* x, const float* scale) = nullptr;  // x[:, j] *= scale[j]
  /// x[:, j] = x[:, j] scale[j] + shift[j], with scale and shift padded.
  void (*scale_shift_columns)(Rows, float* x, const float* scale, const float* shift) = nullptr;
  void (*add_column_sums)(Rows, const float* x, float weight, float* sums) = nullptr;  // [width], unpadded
  /// sums[j] += sum_i x[i, j] other[i, j].
  void (*add_column_products)(Rows, const float* x, const float* other, float* sums) = nullptr;
  void (*row_squares)(Rows, const float* x, float* squares) = nullptr;                  // [rows]: sum_j x^2
  void (*row_products)(Rows, const float* x, const float* with, float* out) = nullptr;  // x with [width]
  void (*scale_rows)(Rows, float* x, const float* scale) = nullptr;                     // x[i, :] *= scale[i]
  void (*add_scaled_rows)(Rows, float* x, const float* scale,
                          const float* other) = nullptr;  // += scale[i] other[i, :]
  /// x[i, :] += scale[i] with[:]
  void (*add_outer)(Rows, float* x, const float* scale, const float* with) = nullptr;

  // Float64, for Gram matrices and for what a prediction computes in float64. All arrays of one call have the
  // stride of Rows.
  void (*product64)(const Product64&) = nullptr;
  void (*transposed_product64)(const TransposedProduct64&) = nullptr;
  void (*transpose64)(const double* from, int64_t ld, int64_t rows, int64_t columns, double scale, double* to,
                      int64_t to_ld) = nullptr;
  /// squares[i] = sum_j c[i, j]^2 of the product c, which is not stored.
  void (*product_squares64)(const Product64&, double* squares) = nullptr;
  /// c[i, j] = scale exp(-1/2 sum_p (a[i, p] - b[p, j])^2). Also fills the padding of c, with other numbers.
  void (*gaussian_kernel64)(const Product64&, double scale) = nullptr;
  void (*silu64)(Rows, double* x) = nullptr;
  void (*tanh64)(Rows, double* x) = nullptr;
  void (*relu64)(Rows, double* x) = nullptr;
  void (*layer_norm64)(Rows, const double* x, const double* scale, const double* shift, double* y) = nullptr;
  void (*add64)(Rows, double* x, const double* other) = nullptr;            // x += other
  void (*scale_columns64)(Rows, double* x, const double* scale) = nullptr;  // x[:, j] *= scale[j]
  void (*row_squares64)(Rows, const double* x, double* squares) = nullptr;  // [rows]: sum_j x^2
  void (*row_products64)(Rows, const double* x, const double* with, double* out) = nullptr;
  /// to = from * scale - shift, with scale and shift [width] padded; to = from if they are nullptr.
  void (*widen)(Rows, const float* from, const double* scale, const double* shift, double* to) = nullptr;
  void (*narrow)(Rows, const double* from, float* to) = nullptr;  // to = from, rounded
  /// x[i, j] = exp(min(x[i, j] - less[i], most)), 0 if that is below 1e-307. With x = <u, v> - |v|^2 / 2 +
  /// log a, less = |u|^2 / 2 and most = log a it is a exp(-|u - v|^2 / 2). less [rows].
  void (*exp_differences64)(Rows, double* x, const double* less, double most) = nullptr;

  /// One update of n parameters by AdamW (Loshchilov and Hutter 2019), as torch.optim.AdamW does it.
  void (*adamw)(int64_t n, const AdamWStep&, float* value, const float* grad, float* first,
                float* second) = nullptr;
};

/// Returns the kernels of the best target that this processor has. The environment variable
/// SLIMBAYES_KERNELS, such as AVX2, chooses another one for tests and comparisons; "none" turns the kernels
/// off, so that every part computes by libtorch as another device does. Throws std::invalid_argument for
/// "none", and if it names none that the processor has.
const Kernels& kernels();

/// Returns how products of the kernels() round: "fused", a product and a sum together, as AVX2, AVX-512 and
/// NEON do, or "separate". Only kernels of the same kind give the same bits. "" without kernels.
std::string rounding();

/// Returns the kernels of every target that this processor has, the best one first. Empty: the processor has
/// none of them or SLIMBAYES_KERNELS is "none", and kernels() throws. The variable is read once.
const std::vector<Kernels>& all_kernels();

}  // namespace slimbayes::kernels
