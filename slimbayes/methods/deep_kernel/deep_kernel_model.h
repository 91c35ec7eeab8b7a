#pragma once

#include <functional>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/basis/feature_map.h"
#include "slimbayes/core/noise_variance.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/methods/deep_kernel/engine_step.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// A deep kernel model with k latent functions, bound to its parameter tensors. In training the tensors are
/// views of the flat parameter buffer (autograd leaves). In prediction the network is float32 and the head
/// float64.
struct DeepKernelModel {
  FeatureMap features;
  VariationalPosterior posterior;
  at::Tensor offset;       // [k]
  at::Tensor noise_theta;  // scalar; undefined unless the task is a regression
  at::Tensor dof_theta;    // scalar; undefined unless the likelihood is student
  at::Tensor
      count_theta;  // scalar; undefined unless the likelihood is that of counts with a noise of its own
  NoiseVariance noise;
  /// The correction in use. It is kernel.correction, but `none` in place of `largest` for a likelihood that
  /// is not Gaussian.
  DeepKernel::Correction correction;
  std::shared_ptr<EngineStep> engine;  // its training steps; nullptr: they run through libtorch

  /// Builds the model from the parameters that `lookup` returns. The network and the expansion compute in the
  /// type of their own tensors, everything else in the type of the posterior's tensors. Throws
  /// std::invalid_argument for a tensor of the wrong shape.
  DeepKernelModel(const DeepKernel& kernel, const NetworkSpec& spec, LikelihoodKind likelihood,
                  int64_t outputs, const Network::Lookup& lookup, Execution execution = Execution::engine);

  /// Returns whether the engine computes the network in training.
  bool by_engine() const { return engine != nullptr || features.by_engine(); }

  /// Returns the features phi of the rows. The field `correction` of the result is defined only for
  /// Correction::kernel.
  Expansion expansion(const Input& input, const ForwardContext& context = {}) const;
  at::Tensor noise_var() const;  // scalar; for a regression only

  /// Returns the degrees of freedom of the predictive, 2.05 + exp(dof_theta), at most 1e6; infinite unless
  /// the likelihood is student.
  double dof() const;

  /// Returns the dispersion of a negative binomial, 1e-7 + exp(count_theta), at most about 1e4, or the share
  /// of zeros of a zero-inflated Poisson count, sigmoid(count_theta), at most 1 - 6e-6. Scalar float64,
  /// differentiable; for these likelihoods only.
  at::Tensor dispersion() const;
  at::Tensor zero_share() const;

  /// Returns M, the largest ||phi||^2 over these rows, which Correction::largest needs (E-12); undefined for
  /// other corrections. M does not depend on how the rows are divided into batches or shards. Each of
  /// `ranks` passes over its own rows. Scalar, float64, on the device of the rows.
  at::Tensor largest_prior_var(const Dataset& data, const Collective* ranks = nullptr) const;

  /// Returns the mean and epistemic variance of f at the rows of `input`, correction included. `largest` is
  /// the result of largest_prior_var() for the training rows; undefined: that correction is left out. Pass
  /// `factor` = posterior.factor() to save recomputing it. [b, k]
  Latent latent(const Input& input, const ForwardContext& context = {}, const at::Tensor& largest = {},
                const at::Tensor& factor = {}) const;
  /// The same for features phi, which another copy of the network may have computed.
  Latent latent(Expansion phi, const at::Tensor& largest = {}, const at::Tensor& factor = {}) const;

  /// Computes the loss of a training step of a regression, adds its gradient to that of every parameter,
  /// and returns it. The gradient at the features phi is in closed form; automatic differentiation takes it
  /// back through the expansion and the network. y [b]; `rows` is n, the number of training rows; `focus` is
  /// the exponent that focus_at() returns; `join` as in HeadBatch.
  VariationalLoss backward(const Input& input, const at::Tensor& y, double rows,
                           const HeadObjective& objective, double focus,
                           const ForwardContext& context = {true}, const JoinTotals& join = {}) const;

  /// The same for every other task: the loss is data(f) + beta / n KL (objectives/latent_gradient.h), where f
  /// [b, k] are the latent functions at the rows of `input`.
  VariationalLoss backward(const Input& input, double rows, double beta,
                           const std::function<at::Tensor(const Latent& f)>& data,
                           const ForwardContext& context = {true}) const;
};

/// Returns the initial parameters in float32 on this device (paper N, appendix B). The posterior q(w) =
/// N(m, L L^T) starts at m = 0, log L_ii = -1/2 log r, and a strictly lower part of L from N(0, 1) / r; the
/// offsets [k] are as given; a dispersion starts at 0.5, a share of zeros at 0.1. The groups are "network"
/// (empty without a network), "head", and for a regression and counts with a noise of their own "noise".
/// Throws std::invalid_argument unless noise_start > noise_floor.
Parameters deep_kernel_parameters(const DeepKernel& kernel, const NetworkSpec& spec,
                                  LikelihoodKind likelihood, const at::Tensor& offset, const Stream& stream,
                                  at::Device device = at::kCPU);

}  // namespace slimbayes
