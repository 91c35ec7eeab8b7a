#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/families/deep_kernel/deep_kernel_model.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// What the training of one deep kernel reads. This struct must outlive the TrainProblem made from it.
struct DeepKernelFit {
  const DeepKernel& kernel;
  const Dataset& rows;      // checked by training_rows()
  const Dataset& held_out;  // checked by validation_rows(); may be empty
  const DeepKernelModel& model;
  Stream draws;  // random draws for softmax logits and for the nodes of a Cox process

  const Task& task() const { return rows.schema.task; }
};

/// Returns the likelihood of this kind. The Gaussian takes the model's noise variance; the softmax is
/// returned as given, with its draws.
Likelihood likelihood_of(LikelihoodKind kind, const DeepKernelModel& model, const SoftmaxLikelihood& softmax);

/// Returns the latent functions of the best constant model, where the training starts: 0 for a regression
/// (its targets are standardised), log odds or log shares for classes, the log mean for counts, log(n / 2^d)
/// for events. [k] float64
at::Tensor constant_offsets(const Dataset& rows);

/// Returns the steps, the validation and the parameter groups of the fit.
TrainProblem deep_kernel_problem(const DeepKernelFit& fit, const NetworkSpec& spec,
                                 const Parameters& parameters);

}  // namespace slimbayes
