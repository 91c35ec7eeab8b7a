#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// f ~ GP(c, s exp(-1/2 sum_j (z_j - z'_j)^2 / l_j^2)), y = f + noise: what the dense methods share, with its
/// hyperparameters as one vector theta [h + 3]: log l, log s, log (noise - floor), c. Float64 inside.
struct DenseHyper {
  at::Tensor lengthscale;                   // [h]
  at::Tensor amplitude, noise_var, offset;  // scalars; amplitude is a variance

  DenseHyper(const at::Tensor& theta, double noise_floor);

  at::Tensor kernel(const at::Tensor& a, const at::Tensor& b) const;  // [n, h], [m, h] -> [n, m]
  at::Tensor noisy_kernel(const at::Tensor& z) const;                 // K + noise I [n, n]
};

/// l = sqrt(h), s = 1, c = 0 (N appendix B). [h + 3] float64
at::Tensor dense_start(int64_t inputs, double log_noise);

/// -log evidence / n of y [n] at z [n, h]; its gradient is added to the leaves behind theta and z. O(n^3).
double dense_evidence_backward(const at::Tensor& theta, const at::Tensor& z, const at::Tensor& y,
                               double noise_floor);

/// The exact posterior of f given y [n] at z [n, h], float64. The trained c is the generalised least-squares
/// estimate where the evidence is at its greatest; its variance under a flat prior is part of the epistemic
/// one (Rasmussen and Williams 2006, eq. 2.42). Throws NumericalError when K + noise I cannot be factorised.
class DensePosterior {
 public:
  DensePosterior(const at::Tensor& theta, at::Tensor z, const at::Tensor& y, double noise_floor);

  Regression operator()(const at::Tensor& z) const;  // [b, h]; holds [b, n] twice
  double jitter() const { return jitter_; }          // as a share of the diagonal

 private:
  DenseHyper hyper_;
  at::Tensor z_;       // [n, h]
  at::Tensor factor_;  // chol(K + noise I) [n, n]
  at::Tensor alpha_;   // (K + noise I)^-1 (y - c) [n]
  at::Tensor ones_;    // (K + noise I)^-1 1 [n]
  double jitter_;
};

}  // namespace slimbayes
