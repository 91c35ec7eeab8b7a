#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

/// Throws std::invalid_argument unless y [n] holds class numbers, that is whole numbers from 0 to
/// classes - 1. The message names `function` and the first value that is no class number.
void check_classes(const at::Tensor& y, int64_t classes, std::string_view function);

/// Returns the predictive of classes for logits that are known exactly, [n, 1] or [n, k]. One logit gives the
/// probabilities of two classes, where the sigmoid of the logit is that of y = 1; k logits give the softmax.
/// Since the logits have no uncertainty, the predictive and the expected entropy are equal, and the mutual
/// information is 0.
Classes classes_of_logits(const at::Tensor& logits);

/// Returns the free energy of each row, -log sum_c exp(logit_c), in float64: an out-of-distribution score,
/// larger for rows farther from the training data (Liu et al. 2020, "Energy-based out-of-distribution
/// detection"). Unlike the probabilities it changes if the same number is added to all logits. One logit f
/// stands for the logits (-f / 2, f / 2) of two classes. logits [n, 1] or [n, k]. [n]
at::Tensor energy(const at::Tensor& logits);

/// Returns two out-of-distribution scores of a classifier whose logits have a Gaussian posterior, [n] each:
/// "energy", the free energy of the mean logits, and "logit_var", the variance of the logit of the predicted
/// class (Rich-BLL, section 4.4). If the posterior correlates the logits, pass as f.epistemic_var the
/// variances of the logits minus their mean over the classes (centred_logit_covariance): a number added to
/// all logits changes no probability, so its variance says nothing about the class. f [n, k]
Scores logit_scores(const Latent& f);

/// The likelihood of two classes with one latent function f, the logit of y = 1: P(y = 1) = sigmoid(f), y in
/// {0, 1}. Expectations over the Gaussian f are computed numerically, and their accuracy depends on the sd of
/// f:
/// - Probabilities, entropies and log P, sd of at most 3: Gauss-Hermite quadrature with 64 nodes; the
///   absolute error is below 1e-6.
/// - Probabilities, entropies and log P, larger sd: an integral over the logistic distribution; the absolute
///   error is below 1e-10 (of log P: below 0.01, however small P is).
/// - E[log P], every sd: Gauss-Hermite quadrature; the absolute error is below 1e-6 for an sd of at most 3,
///   below 0.01 up to an sd of 10, and below 3e-3 times the sd beyond.
struct BernoulliLikelihood {
  Quadrature rule = standard_rule();

  /// Returns E_f[log P(y | f)] = y mean - E[softplus f] for each row, the data term of an ELBO.
  /// Differentiable. f, y and the result have shape [b].
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)] for each row, the log predictive probability of the class y. Differentiable.
  /// f, y and the result have shape [b].
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Classes: the probabilities of y = 0 and y = 1 for each row, averaged over f, and their
  /// entropies. Float64, without gradients.
  Predictive predictive(const Latent& f) const;

 private:
  static const Quadrature& standard_rule();  // 64 nodes, computed once because it is slow
};

/// The likelihood of k classes with k latent functions, the logits: P(y = c) = softmax(f)_c, y in {0, ...,
/// k - 1}. Expectations over the independent Gaussian logits are Monte Carlo averages over draws
/// f = mean + sd z, so gradients reach mean and sd. The standard normal z come in pairs z and -z (antithetic
/// draws), which lowers the error.
struct SoftmaxLikelihood {
  Stream stream;
  int64_t samples = 1024;  // number of draws S, rounded up to an even number
  /// Whether all rows use the same draws z. If so, the result of a row does not depend on its place in the
  /// batch or on the other rows; predictive() always works this way. Training sets it to false, so that the
  /// errors of different rows are independent and average out over the batch.
  bool shared = true;

  /// Returns E_f[log P(y | f)] for each row, the data term of an ELBO. Differentiable. f [b, k], y [b] class
  /// numbers. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// Returns log E_f[P(y | f)] for each row, the log predictive probability of the class y. Differentiable.
  /// f [b, k], y [b] class numbers. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Returns a Classes: the probabilities of the k classes for each row, averaged over f, and their
  /// entropies. Float64, without gradients.
  Predictive predictive(const Latent& f) const;

  /// Returns a Classes for correlated logits f = mean + root z, z ~ N(0, I), whose covariance is root root^T.
  /// mean [n, k], root [n, k, k]; `zeroed` is copied into the result.
  Predictive predictive(const at::Tensor& mean, const at::Tensor& root, int64_t zeroed = 0) const;

 private:
  /// Returns standard normal numbers [S, rows, k].
  at::Tensor draws(int64_t rows, int64_t classes, const at::TensorOptions& options) const;
  /// Returns a Classes for n rows and k classes: the probabilities averaged over the draws, and their
  /// entropies. Works on blocks of rows to limit memory: log_prob(low, size) returns log P of every class in
  /// every draw for the rows [low, low + size), as [S, size, k].
  template <class LogProb>
  Predictive averaged(int64_t n, int64_t k, int64_t zeroed, const LogProb& log_prob) const;
  /// Return log P in each of the S draws: of all classes [S, b, k], or only of each row's class y [S, b].
  at::Tensor log_prob_draws(const Latent& f) const;
  at::Tensor log_prob_draws(const Latent& f, const at::Tensor& y, const char* function) const;
};

}  // namespace slimbayes
