#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/engine/kernel_rows.h"

namespace slimbayes {

/// The hyperparameters that the dense methods (gp-exact, dkl-exact) share. The model is f ~ GP(c, k), y = f +
/// noise, with k(z, z') = s exp(-1/2 sum_j (z_j - z'_j)^2 / l_j^2) for points z with h coordinates. The
/// hyperparameters are trained as one vector theta [h + 3]: log l, log s, log(noise - floor), c. Everything
/// is computed in float64. A row of weight w (Batch::weight) stands for w equal rows: its noise variance in
/// the kernel matrix is noise / w. Below, `weights` [n] are those of the rows; undefined: each counts once.
/// All tensors are on one device, that of the points z.
struct DenseHyper {
  at::Tensor lengthscale;                   // l [h]
  at::Tensor amplitude, noise_var, offset;  // scalars: s (a variance), noise variance, mean c

  DenseHyper(const at::Tensor& theta, double noise_floor);

  at::Tensor kernel(const at::Tensor& a, const at::Tensor& b) const;  // [n, h], [m, h] -> [n, m]
  /// Returns K + noise I, with weights K + noise diag(1 / w). [n, n]
  at::Tensor noisy_kernel(const at::Tensor& z, const at::Tensor& weights = {}) const;
};

/// The name of the weights of the training rows in a model file, which has them if the rows do.
inline constexpr const char* kDenseWeights = "data.weight";

/// Returns these weights of n rows in float64. Throws std::invalid_argument, with a message that begins with
/// `method`, for another shape, and unless they are finite and > 0.
at::Tensor checked_weights(const at::Tensor& stored, int64_t n, const std::string& method);

/// Returns the initial theta for points with `inputs` = h coordinates: l = sqrt(h), s = 1, c = 0 (paper N,
/// appendix B), and log(noise - floor) = log_noise. [h + 3] float64
at::Tensor dense_start(int64_t inputs, double log_noise);

/// Returns -log evidence / n of the targets y [n] at the points z [n, h]. Adds the gradient of this value to
/// those of theta and, if it requires one, of z. O(n^3), on the device of z; theta may be elsewhere. With
/// weights it is the value of the repeated rows: their evidence, divided by the sum of the weights.
double dense_evidence_backward(const at::Tensor& theta, const at::Tensor& z, const at::Tensor& y,
                               double noise_floor, const at::Tensor& weights = {});

/// The exact posterior of f given the targets y [n] at the points z [n, h], float64. The epistemic variance
/// includes the uncertainty of the constant mean c: the variance of its generalised least-squares estimate
/// under a flat prior (Rasmussen and Williams 2006, eq. 2.42). At the maximum of the evidence the trained c
/// is this estimate. Throws NumericalError if K + noise I cannot be factorised.
class DensePosterior {
 public:
  DensePosterior(const at::Tensor& theta, at::Tensor z, const at::Tensor& y, double noise_floor,
                 at::Tensor weights = {});

  /// Returns the answers at the points z [b, h]. Needs memory for two [b, n] matrices.
  Regression operator()(const at::Tensor& z) const;
  /// Returns the same posterior as data for a row model, for points that are the features of rows.
  engine::KernelRows kernel_rows(engine::FeatureSpec features) const;
  double jitter() const { return jitter_; }  // added to the diagonal, relative to the mean diagonal

 private:
  DenseHyper hyper_;
  at::Tensor z_;        // [n, h]
  at::Tensor weights_;  // [n]; undefined if every row counts once
  at::Tensor factor_;   // chol(K + noise I) [n, n]
  at::Tensor alpha_;    // (K + noise I)^-1 (y - c) [n]
  at::Tensor ones_;     // (K + noise I)^-1 1 [n]
  double added_;        // to the diagonal, beside the noise
  double jitter_;
};

}  // namespace slimbayes
