#pragma once

#include "slimbayes/basis/basis.h"
#include "slimbayes/core/likelihood.h"
#include "slimbayes/methods/deep_kernel.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// A deep kernel bound to tensors: leaves of the flat buffer in training, float64 copies in prediction.
struct DeepKernelModel {
  Network network;
  std::shared_ptr<const Basis> basis;
  VariationalPosterior posterior;
  at::Tensor offset, log_noise;  // scalars
  double noise_floor;
  DeepKernel::Correction correction;

  /// Throws std::invalid_argument for tensors that do not fit.
  DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec, const Network::Lookup& lookup);

  int64_t inputs() const;                          // d
  Expansion expansion(const at::Tensor& x) const;  // [b, d]; the correction only where it is the kernel's
  at::Tensor noise_var() const;                    // exp(log_noise) + floor, scalar

  /// f(x) with the kernel's correction in its variance.
  Latent latent(const at::Tensor& x) const;

  /// A training step's gradients, added to those of the parameters; x [b, d], y [b], n = `rows` training
  /// rows.
  VariationalLoss backward(const at::Tensor& x, const at::Tensor& y, int64_t rows,
                           const HeadObjective& objective, double focus) const;

 private:
  NetworkSpec spec_;
};

/// The start of N appendix B: m = 0, log L_ii = -1/2 log r, strictly lower part N(0, 1) / r, offset 0; groups
/// "backbone" (empty without a network), "head", "noise". float32. Throws std::invalid_argument unless
/// noise_start > noise_floor.
Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                                  const Stream& stream);

}  // namespace slimbayes
