#pragma once

#include "slimbayes/core/likelihoods.h"
#include "slimbayes/objectives/variational_posterior.h"

namespace slimbayes {

/// Which expectation under q the data term of each row takes.
enum class DataTerm {
  /// E_q[log p(y | f)]. With beta = 1 and all rows in the batch, -n times the loss is a lower bound on the
  /// log evidence (an ELBO).
  expected,
  /// log E_q[p(y | f)]: the log of the predictive density.
  predictive
};

/// The terms of a mini-batch loss under q(w), scalars. Training minimises total = data + beta / n KL (+ alpha
/// trace, see HeadObjective).
struct VariationalLoss {
  at::Tensor data;  // data term, mean over the batch
  at::Tensor kl;    // KL(q || N(0, I))
  at::Tensor total;
};

/// The KL term of a loss, beta / rows KL(q || N(0, I)).
struct WeightedKl {
  VariationalPosterior posterior;  // q
  int64_t rows;                    // n, the number of training rows
  double beta = 1;
};

/// Returns the loss -(mean over the batch of the data term) + beta / n KL. It is a pure function,
/// differentiable by automatic differentiation. With `expected` it is the bound of SVGP (N-5; Hensman et al.
/// 2013, 2015) and VBLL (N appendix B; Harrison et al. 2024), with `predictive` that of PPGP (N-6; Jankowiak
/// et al. 2020) and dPPGP (N-15). f [b, k] from the posterior of `kl`, with the correction of an
/// inducing-point expansion (N-4) added to its variance; y [b]. Throws std::invalid_argument for shapes that
/// do not fit.
VariationalLoss variational_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                  const WeightedKl& kl, DataTerm data = DataTerm::expected);

/// Returns the loss of a Cox process (E A.5), divided by the n events. The data term is -(mean over the batch
/// of mean(x)) + 1/n sum_q weight_q exp(mean + var / 2), an unbiased estimate of 1/n (-sum_i mean(x_i) +
/// integral of exp(mean + var / 2)). f [b + q, 1] at b events, then at q nodes of the integral with `weights`
/// [q].
VariationalLoss cox_bound(const Latent& f, const at::Tensor& weights, const WeightedKl& kl);

}  // namespace slimbayes
