#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/families/deep_kernel_model.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// What the training of one deep kernel reads. It must outlive the TrainProblem made from it.
struct DeepKernelFit {
  const DeepKernel& kernel;
  const Dataset& rows;      // training_data()
  const Dataset& held_out;  // validation_data(); may be empty
  const DeepKernelModel& model;
  Stream draws;  // of a softmax and of a Cox process's nodes

  const Task& task() const { return rows.schema.task; }
};

/// The likelihood with the model's noise and, of a softmax, these draws.
Likelihood likelihood_of(LikelihoodKind kind, const DeepKernelModel& model, const SoftmaxLikelihood& softmax);

/// The constant model's latent functions: 0 of a regression (its targets are standardised), log odds or log
/// shares of classes, the log mean of counts, log n / 2^d of events. [k] float64
at::Tensor constant_offsets(const Dataset& rows);

/// Steps, validation and parameter groups of the fit.
TrainProblem deep_kernel_problem(const DeepKernelFit& fit, const NetworkSpec& spec,
                                 const Parameters& parameters);

}  // namespace slimbayes
