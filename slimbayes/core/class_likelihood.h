#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/core/likelihood.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

/// Throws std::invalid_argument unless y [n] holds whole numbers from 0 to classes - 1; the message names the
/// first value that does not fit.
void check_classes(const at::Tensor& y, int64_t classes, std::string_view function);

/// Returns the class probabilities of logits without uncertainty: the sigmoid of one logit (classes y = 0 and
/// y = 1) or the softmax of k. Both entropies are the entropy of these probabilities, so their difference is
/// 0. logits [n, 1] or [n, k].
Classes classes_of_logits(const at::Tensor& logits);

/// Returns the free energy of each row, -log sum_c exp(logit_c): an out-of-distribution score (Liu et al.
/// 2020, "Energy-based out-of-distribution detection"), which unlike the probabilities depends on the size of
/// the logits. One logit f stands for the logits (-f / 2, f / 2) of two classes. logits [n, 1] or [n, k].
/// [n] float64
at::Tensor energy(const at::Tensor& logits);

/// Returns the out-of-distribution scores of a classifier's latent functions: "energy", and "logit_var", the
/// variance of the predicted class's logit (R section 4.4). A method whose logits are correlated passes the
/// variances of the centred logits (centred_logit_covariance). f [n, k]
Scores logit_scores(const Latent& f);

/// The likelihood of two classes with one latent function: P(y = 1) = sigmoid(f), y in {0, 1}. The accuracy
/// depends on the sd of f:
/// - Probabilities, entropies and log P: up to an sd of 3 by Gauss-Hermite quadrature with 64 nodes, with an
///   absolute error below 1e-6. For a larger sd by an integral over the logistic distribution, with an
///   absolute error below 1e-10 (of log P: below 0.01, however small P is).
/// - E[log P]: by Gauss-Hermite quadrature at any sd, with an absolute error below 1e-6 up to an sd of 3,
///   below 0.01 up to 10, and below 3e-3 times the sd beyond 10.
struct BernoulliLikelihood {
  Quadrature rule = standard_rule();

  /// Returns E_f[log P(y | f)] = y mean - E[softplus f], the data term of an ELBO. Differentiable. f and y
  /// [b]. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)], the log predictive probability. Differentiable. f and y [b]. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns Classes with the probabilities of y = 0 and y = 1. Float64, without gradients.
  Predictive predictive(const Latent& f) const;

 private:
  static const Quadrature& standard_rule();  // computed once, because it costs an eigendecomposition
};

/// The likelihood of k classes with k latent functions: P(y = c) = softmax(f)_c, y in {0, ..., k - 1}.
/// Expectations over the independent Gaussian logits are estimated by reparametrised antithetic Monte Carlo.
struct SoftmaxLikelihood {
  Stream stream;
  int64_t samples = 1024;  // number of draws S, rounded up to an even number
  /// Whether all rows use the same draws. If so, a row's value does not depend on its place in the batch or
  /// on the other rows; predictive() always works this way. Training uses separate draws for each row,
  /// because their errors average out over the batch.
  bool shared = true;

  /// Returns E_f[log P(y | f)], the data term of an ELBO. Differentiable. f [b, k], y [b] class numbers. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)], the log predictive probability. Differentiable. f [b, k], y [b]. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns Classes with the probabilities of the k classes. Float64, without gradients.
  Predictive predictive(const Latent& f) const;

  /// Returns the same for logits mean + root z, z ~ N(0, I), whose covariance root root^T need not be
  /// diagonal. mean [n, k], root [n, k, k]; `zeroed` as in Latent.
  Predictive predictive(const at::Tensor& mean, const at::Tensor& root, int64_t zeroed = 0) const;

 private:
  at::Tensor draws(int64_t rows, int64_t classes, at::ScalarType type) const;  // z [S, rows, k]
  /// Returns the averages over draws of log P, which `log_prob(low, size)` gives for rows [low, low + size)
  /// as [S, size, k].
  template <class LogProb>
  Predictive averaged(int64_t n, int64_t k, int64_t zeroed, const LogProb& log_prob) const;
  at::Tensor log_prob_draws(const Latent& f) const;                                             // [S, b, k]
  at::Tensor log_prob_draws(const Latent& f, const at::Tensor& y, const char* function) const;  // [S, b]
};

}  // namespace slimbayes
