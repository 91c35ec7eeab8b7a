#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/objectives/variational_posterior.h"

namespace slimbayes {

/// Which expectation over q the data term of a row takes.
enum class DataTerm {
  expected,   // E_q[log p(y | f)]: with beta = 1 minus the loss is a bound on the log evidence, divided by n
  predictive  // log E_q[p(y | f)]: the density that is predicted
};

/// The terms of a mini-batch loss under q(w), scalars; total = data + beta / n KL (+ alpha trace, see
/// HeadObjective) is what is minimised.
struct VariationalLoss {
  at::Tensor data;  // mean over the batch
  at::Tensor kl;    // KL(q || N(0, I))
  at::Tensor total;
};

/// -mean over the batch of the data term + beta / rows KL, a pure function by automatic differentiation. With
/// `expected` the bound of SVGP (N-5; Hensman et al. 2013, 2015) and of VBLL (N appendix B; Harrison et al.
/// 2024), with `predictive` that of PPGP (N-6; Jankowiak et al. 2020) and of dPPGP (N-15). f [b, k] from
/// `posterior`, with an inducing-point expansion's correction (N-4) in its variance; y [b]; `rows` is n.
/// Throws std::invalid_argument for shapes that do not fit.
VariationalLoss variational_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                  const VariationalPosterior& posterior, int64_t rows, DataTerm data,
                                  double beta = 1);

/// The bound of a Cox process (E A.5), divided by the n events: the data term is -mean over the batch of
/// mean(x) + 1/n sum_q weight_q exp(mean + var / 2), an unbiased estimate of 1/n (-sum_i mean(x_i) + integral
/// of exp(mean + var / 2)). f [b + q, 1] at b events, then at q nodes of the integral with `weights` [q];
/// `rows` is n.
VariationalLoss cox_bound(const Latent& f, const at::Tensor& weights, const VariationalPosterior& posterior,
                          int64_t rows, double beta = 1);

}  // namespace slimbayes
