#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/objectives/latent_posterior.h"
#include "slimbayes/objectives/variational_loss.h"

namespace slimbayes {

/// SVGP's bound for any likelihood (N-5; Hensman et al., Scalable variational Gaussian process classification, 2015), a
/// pure function by automatic differentiation: the data term is -E_q log p(y | f), so that with beta = 1 the total is
/// minus a bound on the log evidence, divided by n. f [b, k] with its correction, if any, in the variance; y [b]; rows is
/// n. There is no trace term.
VariationalLoss likelihood_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                 const LatentPosterior& posterior, int64_t rows, double beta = 1);

/// The bound of a Cox process (E A.5), divided by the n events: the data term is
/// -mean over the batch of mean(x) + 1/n sum_q weight_q exp(mean + var / 2), an unbiased estimate of
/// 1/n (-sum_i mean(x_i) + integral of exp(mean + var / 2)). event_mean [b]; nodes [q] and weights [q] of the integral;
/// rows is n.
VariationalLoss cox_bound(const at::Tensor& event_mean, const Latent& nodes, const at::Tensor& weights,
                          const LatentPosterior& posterior, int64_t rows, double beta = 1);

}  // namespace slimbayes
