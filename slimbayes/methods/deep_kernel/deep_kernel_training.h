#pragma once

#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/methods/deep_kernel/deep_kernel_model.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// What the training of one deep kernel needs. It must outlive the TrainProblem made from it.
struct DeepKernelFit {
  const DeepKernel& kernel;
  const Dataset& rows;      // checked by training_rows()
  const Dataset& held_out;  // checked by validation_rows(); may be empty
  const DeepKernelModel& model;
  const Collective* ranks;  // FitContext::ranks
  Stream draws;  // for softmax: draws of the logits; for events: places at which the intensity is integrated
  double total;  // n, the sum of the weights of the training rows (Dataset::total_weight)

  const Task& task() const { return rows.schema.task; }
};

/// Returns the likelihood of this kind. A regression takes the noise variance and the degrees of freedom of
/// `model`, counts with a noise of their own its parameter, on the device of the model. `softmax` is returned
/// as it is for LikelihoodKind::softmax: it holds the random draws for its expectations. All other numbers
/// that the likelihood holds are on the CPU.
Likelihood likelihood_of(LikelihoodKind kind, const DeepKernelModel& model, const SoftmaxLikelihood& softmax);

/// Returns the value of each latent function in the best model that ignores the inputs; training starts from
/// it. It is 0 for a regression (the targets are centred), the log odds or log shares of classes, the log
/// mean of counts, and log(n / 2^d) for n events in the domain [-1, 1]^d. Each of `ranks`
/// (FitContext::ranks) counts its own rows. [k] float64
at::Tensor constant_offsets(const Dataset& rows, const Collective* ranks);

/// Returns the training problem of the fit: the step and the validation score for its task
/// (deep_kernel_training.cpp explains them) and the parameter groups. `parameters` are those to which
/// fit.model is bound.
TrainProblem deep_kernel_problem(const DeepKernelFit& fit, const NetworkSpec& spec,
                                 const Parameters& parameters);

}  // namespace slimbayes
