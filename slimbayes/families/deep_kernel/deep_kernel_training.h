#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/families/deep_kernel/deep_kernel_model.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The inputs of one deep kernel's training. The struct must outlive the TrainProblem made from it.
struct DeepKernelFit {
  const DeepKernel& kernel;
  const Dataset& rows;      // checked by training_rows()
  const Dataset& held_out;  // checked by validation_rows(); may be empty
  const DeepKernelModel& model;
  Stream draws;  // random draws of softmax logits and of a Cox process's nodes

  const Task& task() const { return rows.schema.task; }
};

/// Returns the likelihood of this kind. A Gaussian takes the model's noise variance; for softmax, returns
/// `softmax`, which holds its draws.
Likelihood likelihood_of(LikelihoodKind kind, const DeepKernelModel& model, const SoftmaxLikelihood& softmax);

/// Returns the latent functions of the best constant model, at which training starts: 0 for a regression (its
/// targets are standardised), log odds or log shares for classes, the log mean for counts, log(n / 2^d) for
/// events. [k] float64
at::Tensor constant_offsets(const Dataset& rows);

/// Returns the steps, the validation and the parameter groups of the fit.
TrainProblem deep_kernel_problem(const DeepKernelFit& fit, const NetworkSpec& spec,
                                 const Parameters& parameters);

}  // namespace slimbayes
