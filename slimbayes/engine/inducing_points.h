#pragma once

#include <cstdint>

#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/cholesky.h"
#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

/// The parameters of an expansion by inducing points, or their gradients: Z [r, h], log l [h] and log a [1].
template <class Number>
struct InducingValues {
  Number* points = nullptr;
  Number* log_lengthscale = nullptr;
  Number* log_amplitude = nullptr;
};

/// The expansion of basis/rbf.cpp, which has its equations: features phi(g) = L^-1 k_Z(g) of an RBF kernel
/// with r inducing points on the h outputs g of a network, with the gradient in closed form.
///
/// All of it is float64, except phi and the gradient at phi that the head gives: a factor L^-1 of a Gram
/// matrix that is nearly singular makes terms of the gradient that are far larger than their sum. The mean
/// of the points is subtracted from inputs and points: distances stay the same, and squared distances lose
/// fewer digits.
class InducingPoints {
 public:
  InducingPoints(int64_t inputs, int64_t rank, const kernels::Kernels& kernels);

  /// What the passes of some chunks, one after another, need beside the tape.
  struct Work {
    Doubles gradient, input_gradient, of_rows, division;
  };
  /// The sums over rows from which finish() makes the gradient.
  struct Sums {
    Doubles products;      // G^T Phi [r, ld of r], its lower triangle
    Doubles points;        // W^T u [r, ld of h]
    Doubles columns;       // of W [ld of r]
    Doubles lengthscale;   // of dloss/du o u [ld of h]
    double kernel = 0;     // sum of dloss/dK_xZ o K_xZ
    double amplitude = 0;  // sum of dloss/dcorrection
  };
  Sums sums() const;  // zero
  void clear(Sums& sums) const;
  void add(Sums& to, const Sums& other) const;
  Work work() const;

  /// Reads the parameters and factorises K_ZZ. Returns false if it is not positive definite without jitter,
  /// if a parameter is NaN, or if the points are so far apart (100 lengthscales) that squared distances need
  /// differences; nothing else may then be called.
  bool prepare(const InducingValues<const float>& values);

  double amplitude() const { return amplitude_; }
  /// Returns how many floats and doubles the tape of a chunk has.
  int64_t tape_floats() const { return kChunkRows * ld_; }
  int64_t tape_doubles() const { return kChunkRows * (ldh_ + 2 * ld_); }

  /// Computes `rows` rows, at most kChunkRows, from g [rows, h] with padded rows. Writes phi [rows, r],
  /// rounded, with padded rows to `phi`, and the squares |phi|^2 [rows] before rounding.
  void forward(const float* g, int64_t rows, double* tape, Work& work, float* phi, double* squares) const;

  /// Returns how many doubles features() needs.
  int64_t feature_doubles() const {
    return tape_doubles() + kChunkRows + UpperFactor::work_doubles(kChunkRows);
  }
  /// Computes `rows` rows, at most kChunkRows, as forward() does, from g [rows, h] in float64 with padded
  /// rows. Returns phi [rows, r] with padded rows, which lies in `scratch`, aligned to 64 bytes. Several
  /// threads may call it, each with a scratch of its own.
  double* features(const double* g, int64_t rows, double* scratch) const;

  /// Adds the parts of the rows of a forward pass to `sums`. grad_phi [rows, r] with padded rows is the
  /// gradient at phi, grad_correction [rows] that at the correction a - |phi|^2, or nullptr for none. Writes
  /// the gradient at g [rows, h] with padded rows, unless grad_g is nullptr.
  void backward(int64_t rows, const double* tape, const float* grad_phi, const double* grad_correction,
                Work& work, Sums& sums, float* grad_g) const;

  /// Adds the gradient of the parameters, given the sums over all rows.
  void finish(const Sums& sums, const InducingValues<float>& gradients);

 private:
  void read(const InducingValues<const float>& values);
  void gram();
  void expand(int64_t rows, const double* u, double* cross, double* phi, double* half,
              double* division) const;
  void within(const Sums& sums);

  const kernels::Kernels& kernels_;
  int64_t h_, r_, ldh_, ld_;
  double amplitude_ = 1, log_amplitude_ = 0;
  Doubles inverse_scale_, centre_;      // 1 / l and the mean of Z / l [ldh]
  Doubles points_, transposed_points_;  // v = Z / l - centre [ld, ldh]; v^T [h, ld]
  Doubles offsets_;                     // log a - |v|^2 / 2 [ld]
  Doubles gram_;                        // K_ZZ [ld, ld], its upper triangle
  UpperFactor factor_;                  // L^T, upper triangular
  Doubles first_, second_, division_;   // [ld, ld], for intermediate results; of factor_
};

}  // namespace slimbayes::engine
