#pragma once

#include "slimbayes/basis/feature_map.h"
#include "slimbayes/methods/deep_kernel.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/objectives/latent_posterior.h"

namespace slimbayes {

/// A deep kernel with k latent functions bound to tensors: leaves of the flat buffer in training, float64 copies in
/// prediction.
struct LatentModel {
  FeatureMap features;
  LatentPosterior posterior;
  at::Tensor offset;  // [k]
  DeepKernel::Correction correction;

  /// Throws std::invalid_argument for tensors that do not fit.
  LatentModel(const DeepKernel& kernel, const NetworkSpec& spec, int64_t outputs,
              const Network::Lookup& lookup);

  /// f(x) with the kernel's correction in its variance. x [b, d]. [b, k]
  Latent latent(const at::Tensor& x) const;
};

/// The start of N appendix B for each latent function, with these offsets [k]; groups "backbone" (empty without a network)
/// and "head". float32.
Parameters latent_parameters(const DeepKernel& kernel, const NetworkSpec& spec, int64_t inputs,
                             const at::Tensor& offset, const Stream& stream);

}  // namespace slimbayes
