#pragma once

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/core/likelihood.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/families/deep_kernel.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// A deep kernel model with k latent functions, and its parameter tensors: in training, views of the flat
/// buffer (autograd leaves); in prediction, a float32 network and a float64 head.
struct DeepKernelModel {
  FeatureMap features;
  VariationalPosterior posterior;
  at::Tensor offset;       // [k]
  at::Tensor noise_theta;  // scalar; undefined unless the likelihood is Gaussian
  NoiseVariance noise;
  DeepKernel::Correction correction;  // what of the kernel's correction this likelihood has

  /// The network and the expansion compute in the type of their tensors, the rest in that of the posterior's.
  /// Throws std::invalid_argument for tensors that do not fit.
  DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec, LikelihoodKind likelihood, int64_t outputs,
                  const Network::Lookup& lookup);

  Expansion expansion(const Input& input, const ForwardContext& context = {}) const;  // correction: the kernel's alone
  at::Tensor noise_var() const;                    // noise(noise_theta), scalar; of a Gaussian likelihood

  /// Returns M, the largest ||phi||^2 over these rows, for Correction::largest (E-12); undefined for the
  /// other corrections. It does not depend on how the rows are divided into batches or shards. Scalar,
  /// float64.
  at::Tensor largest_prior_var(const Dataset& data) const;

  /// f(x) as it is predicted, with the correction in its variance; `largest` is M. `factor` is
  /// posterior.factor() where it was computed before. [b, k]
  Latent latent(const Input& input, const ForwardContext& context = {}, const at::Tensor& largest = {},
                const at::Tensor& factor = {}) const;

  /// Gaussian noise: a training step's gradients in closed form, added to those of the parameters; y [b], n =
  /// `rows` training rows.
  VariationalLoss backward(const Input& input, const at::Tensor& y, int64_t rows, const HeadObjective& objective,
                           double focus, const ForwardContext& context = {true}) const;
};

/// The start of N appendix B: m = 0, log L_ii = -1/2 log r, strictly lower part N(0, 1) / r, these offsets
/// [k]; groups "network" (empty without a network), "head", and "noise" of a Gaussian likelihood. float32.
/// Throws std::invalid_argument unless noise_start > noise_floor.
Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec, LikelihoodKind likelihood, const at::Tensor& offset, const Stream& stream);

}  // namespace slimbayes
