#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/core/likelihood.h"
#include "slimbayes/core/quadrature.h"
#include "slimbayes/core/random.h"

namespace slimbayes {

/// Throws std::invalid_argument unless y [n] holds whole numbers from 0 to classes - 1; names the first that
/// is not.
void check_classes(const at::Tensor& y, int64_t classes, std::string_view function);

/// The classes of logits without uncertainty: the sigmoid of one (y = 0, y = 1), the softmax of k. Both
/// entropies are that of the probabilities. logits [n, 1] or [n, k].
Classes classes_of_logits(const at::Tensor& logits);

/// P(y = 1) = sigmoid(f), y in {0, 1}, one latent function. Probabilities, entropies and log P: by
/// Gauss-Hermite quadrature of 64 nodes up to a latent sd of 3, with an absolute error below 1e-6, beyond by
/// an integral over the logistic, below 1e-10 at any sd (log P below 0.01, however small P is). E[log P] by
/// the Gauss rule at any sd: absolute error below 1e-6 up to an sd of 3, below 0.01 up to 10, below 3e-3 of
/// the sd beyond.
struct BernoulliLikelihood {
  Quadrature rule = standard_rule();

  /// E_f[log P(y | f)] = y mean - E[softplus f]. Differentiable. f and y [b]. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// log E_f[P(y | f)]. Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// Probabilities of y = 0 and y = 1, in float64.
  Predictive predictive(const Latent& f) const;

 private:
  static const Quadrature& standard_rule();  // made once: it costs an eigenvalue problem
};

/// P(y = c) = softmax(f)_c, y in {0, ..., k - 1}, k latent functions; expectations over independent Gaussian
/// logits by antithetic Monte Carlo, reparametrised.
struct SoftmaxLikelihood {
  Stream stream;
  int64_t samples = 1024;  // S, taken up to an even number
  /// Every row sees the same draws: answers that do not depend on a row's place or its neighbours. Training
  /// takes draws of each row's own, whose errors average out over the batch.
  bool shared = true;

  /// E_f[log P(y | f)]. Differentiable. f [b, k], y [b] class numbers. [b]
  at::Tensor expected_log_prob(const Latent& f, const at::Tensor& y) const;

  /// log E_f[P(y | f)]. Differentiable. [b]
  at::Tensor log_predictive(const Latent& f, const at::Tensor& y) const;

  /// In float64.
  Predictive predictive(const Latent& f) const;

 private:
  at::Tensor log_prob_draws(const Latent& f) const;                                             // [S, b, k]
  at::Tensor log_prob_draws(const Latent& f, const at::Tensor& y, const char* function) const;  // [S, b]
};

}  // namespace slimbayes
