#pragma once

#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/objectives/variational_posterior.h"

namespace slimbayes {

/// How the data term of a row averages over q, the variational posterior of the latent function f.
enum class DataTerm {
  /// E_q[log p(y | f)]. With beta = 1 and all rows in the batch, -n times the loss is a lower bound on the
  /// log evidence (an ELBO).
  expected,
  /// log E_q[p(y | f)]: the log of the predictive density.
  predictive
};

/// The terms of a mini-batch loss under q(w), all scalars. Training minimises total = data + beta / n KL,
/// where n is the number of training rows. (head_gradient adds alpha times the trace regulariser,
/// HeadObjective::alpha.)
struct VariationalLoss {
  at::Tensor data;  // minus the data term, mean over the batch
  at::Tensor kl;    // KL(q || N(0, I))
  at::Tensor total;
};

/// The KL term of a loss, beta / rows KL(q || N(0, I)).
struct WeightedKl {
  VariationalPosterior posterior;  // q
  double rows;                     // n, the sum of the weights of the training rows
  double beta = 1;
};

/// Returns the loss -(mean over the batch of the data term that `data` chooses) + beta / n KL. It is a pure
/// function, differentiable by automatic differentiation. With `expected` it is the bound of SVGP (N-5;
/// Hensman et al. 2013, 2015) and VBLL (N appendix B; Harrison et al. 2024), with `predictive` that of PPGP
/// (N-6; Jankowiak et al. 2020) and dPPGP (N-15). `f` [b, k] comes from the posterior of `kl`; for an
/// expansion by inducing points its variance must include the correction (N-4). y [b]. Throws
/// std::invalid_argument for shapes that do not fit.
VariationalLoss variational_bound(const Likelihood& likelihood, const Latent& f, const at::Tensor& y,
                                  const WeightedKl& kl, DataTerm data = DataTerm::expected);

/// Returns the field `data` of cox_bound(); `rows` is the number n of training events.
at::Tensor cox_data(const Latent& f, const at::Tensor& weights, double rows);

/// Returns the loss of a Cox process (E appendix A.5), divided by the number n of training events. Its field
/// `data` is -(mean over the batch of mean(x)) + 1/n sum_q weight_q exp(mean + var / 2), where mean and var
/// are those of f. With random nodes it is an unbiased estimate of 1/n (-sum_i mean(x_i) + integral of
/// exp(mean + var / 2)). f [b + q, 1] holds first the b events of the batch, then the q nodes of the
/// integral; `weights` [q] are the quadrature weights of the nodes.
VariationalLoss cox_bound(const Latent& f, const at::Tensor& weights, const WeightedKl& kl);

}  // namespace slimbayes
