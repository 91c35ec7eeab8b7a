#pragma once

#include "slimbayes/density/batch_totals.h"
#include "slimbayes/objectives/variational_bound.h"

namespace slimbayes {

/// The choices by which the training objectives of deep kernels differ. As {data, alpha, beta} the methods
/// use: dPPGP {predictive, alpha, beta}; PPGP {predictive, 0, beta}; VBLL {expected, 0, 1}; SV-DBK {expected,
/// 1, 1}; SVGP {expected, 0, 1}. PPGP and SVGP use inducing points, whose correction is added to the variance
/// of f.
struct HeadObjective {
  DataTerm data = DataTerm::predictive;
  /// Weight of the trace regulariser for Gaussian noise (equations N-15 and E-11): with M the largest
  /// ||phi||^2 in the batch, the batch mean of (M - ||phi||^2) / (2 noise_var). Its gradient includes the
  /// derivative of M.
  double alpha = 0;
  double beta = 1;  // weight of the KL term
};

/// A batch as the head (the Bayesian linear model on the features) sees it.
struct HeadBatch {
  at::Tensor features;    // phi [b, r]
  at::Tensor correction;  // [b]; undefined if the expansion has none
  at::Tensor y;           // [b]
  double rows;            // n, the sum of the weights of the training rows
  JoinTotals join = {};   // of a batch that processes share: the gradient is that of this process's rows
};

/// The parameters of the head of a regression.
struct HeadValues {
  VariationalPosterior posterior;  // q(w) of one function, k = 1
  at::Tensor offset;               // [1]
  at::Tensor noise_var;            // scalar
  /// Degrees of freedom of a StudentLikelihood, > 2, a float64 scalar; undefined: Gaussian. Defined only with
  /// DataTerm::predictive.
  at::Tensor dof = {};
};

/// The loss of a batch and its gradient, in closed form and without an autograd graph. The caller propagates
/// grad_features and grad_correction back through the expansion and the network. The other gradients are
/// those of the head's parameters.
struct HeadGradient {
  VariationalLoss loss;
  at::Tensor grad_features;      // [b, r]
  at::Tensor grad_correction;    // [b]; undefined if the expansion has no correction
  at::Tensor grad_mean;          // [1, r]
  at::Tensor grad_log_diagonal;  // [1, r]
  at::Tensor grad_lower;         // [1, r, r], strictly lower triangular
  at::Tensor grad_offset;        // [1]
  at::Tensor grad_noise_var;     // scalar
  at::Tensor grad_dof;           // float64 scalar; undefined without degrees of freedom
};

/// Returns the loss and gradient of the objectives of a regression. With focus = 0 the gradient in every
/// argument equals automatic differentiation of variational_bound plus the trace regulariser. With focus > 0,
/// row i of a predictive data term has the weight v_i^focus / mean(v^focus), where v are the predictive
/// variances, held constant (Seitzer et al. 2022, eq. 5). Without these weights a row with a large predicted
/// variance hardly moves the mean; with focus = 1 it moves the mean as under the squared error. An expected
/// data term has one variance for all rows and ignores `focus`. Throws std::invalid_argument for degrees of
/// freedom with an expected data term or of at most 2; on another device than the CPU it calls
/// pending_head_gradient().
HeadGradient head_gradient(const HeadBatch& batch, const HeadValues& head, const HeadObjective& objective,
                           double focus = 0);

/// The same by tensor operations that read no number of the device, so that a step does not wait for it. The
/// degrees of freedom are not checked, and processes cannot share the batch (HeadBatch::join).
HeadGradient pending_head_gradient(const HeadBatch& batch, const HeadValues& head,
                                   const HeadObjective& objective, double focus = 0);

}  // namespace slimbayes
