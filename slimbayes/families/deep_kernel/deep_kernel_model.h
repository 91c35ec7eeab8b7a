#pragma once

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/core/likelihood.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/families/deep_kernel/deep_kernel.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// A deep kernel model with k latent functions, bound to its parameter tensors. In training the tensors are
/// views of the flat parameter buffer (autograd leaves). In prediction the network is float32 and the head
/// float64.
struct DeepKernelModel {
  FeatureMap features;
  VariationalPosterior posterior;
  at::Tensor offset;       // [k]
  at::Tensor noise_theta;  // scalar; undefined unless the likelihood is Gaussian
  NoiseVariance noise;
  /// The correction in use. `largest` becomes `none` for a likelihood that is not Gaussian.
  DeepKernel::Correction correction;

  /// Builds the model from the parameters that `lookup` returns. The network and the expansion compute in the
  /// type of their own tensors, everything else in the type of the posterior's tensors. Throws
  /// std::invalid_argument for a tensor of the wrong shape.
  DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec, LikelihoodKind likelihood,
                  int64_t outputs, const Network::Lookup& lookup);

  /// Returns the features phi. Their field `correction` is defined only for Correction::kernel.
  Expansion expansion(const Input& input, const ForwardContext& context = {}) const;
  at::Tensor noise_var() const;  // noise(noise_theta), scalar; for a Gaussian likelihood only

  /// Returns M, the largest ||phi||^2 over these rows, for Correction::largest (E-12); undefined for other
  /// corrections. M does not depend on how the rows are divided into batches or shards. Scalar, float64.
  at::Tensor largest_prior_var(const Dataset& data) const;

  /// Returns the predicted mean and epistemic variance of f(x), corrections included. `largest` is M, for
  /// Correction::largest. Pass `factor` = posterior.factor() to save recomputing it. [b, k]
  Latent latent(const Input& input, const ForwardContext& context = {}, const at::Tensor& largest = {},
                const at::Tensor& factor = {}) const;

  /// Computes the gradients of a training step under Gaussian noise in closed form and adds them to those of
  /// the parameters. Returns the loss. y [b]; `rows` is n, the number of training rows.
  VariationalLoss backward(const Input& input, const at::Tensor& y, int64_t rows,
                           const HeadObjective& objective, double focus,
                           const ForwardContext& context = {true}) const;
};

/// Returns the initial parameters (N appendix B) in float32: m = 0, log L_ii = -1/2 log r, strictly lower
/// part of L from N(0, 1) / r, and the given offsets [k]. The groups are "network" (empty without a network),
/// "head", and for a Gaussian likelihood "noise". Throws std::invalid_argument unless noise_start >
/// noise_floor.
Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec,
                                  LikelihoodKind likelihood, const at::Tensor& offset, const Stream& stream);

}  // namespace slimbayes
