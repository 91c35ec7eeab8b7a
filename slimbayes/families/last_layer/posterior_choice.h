#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/families/last_layer/log_range.h"

namespace slimbayes {

/// Returns the summary's sentence about a posterior with a raised noise variance (Fitted::with_noise).
std::string raised_noise_fact(double var);

/// The hyperparameters of a posterior around a trained network.
struct PosteriorChoice {
  double noise_var = 0;  // sigma2 of a regression, in units of its encoded target
  double prior_sd = 1;   // s
  /// Sentences for the user about values at an end of the searched range.
  std::vector<std::string> notes = {};
};

/// The posterior of a regression's residuals y - f(x), in coordinates in which it is diagonal for every noise
/// sigma2 and prior sd s. Use it to score many values of sigma2 and s cheaply. With
/// h_j = 1 + s^2 eigenvalues_j / sigma2, the epistemic variance of a row is
///   s^2 extra + sum_j s^2 features_j / h_j,
/// and the posterior mean of its residual is sum_j (s^2 / sigma2) mean_terms_j / h_j.
struct PosteriorSpectrum {
  at::Tensor eigenvalues;  // [r] >= 0 of T^T Phi^T Phi T
  double yy;               // sum of the squared residuals of the training rows
  double n;                // training rows
  /// ||T^-1 w||^2 of the trained weights w, whose prior is N(0, s^2 T T^T). The evidence needs it.
  double weights_squared;
  // Validation rows; undefined without them.
  at::Tensor features = {};  // [n_v, r] squared coordinates
  at::Tensor extra = {};     // [n_v] prior variance outside the training rows' span; undefined: 0
  at::Tensor residual = {};  // [n_v] y - f
  /// [n_v, r] products of a row's coordinates with those of the response. Undefined: the mean is f itself.
  at::Tensor mean_terms = {};
};

/// Throws std::invalid_argument if a prior_sd is given for a prior other than "fixed".
void check_prior(const PosteriorChoiceOptions& options, const std::string& method);

/// Returns the range that prior "select" searches: 0.01 to 10 times `unit`, the prior sd of prior "unit".
LogRange prior_range(double unit);

/// Returns a note if a classifier's chosen prior sd is an end of prior_range(unit); else "".
std::string class_prior_note(double prior_sd, double unit);

/// Returns the prior sd s for which the prior variance of f is 1 on average over the training rows. `sum` is
/// the sum of the prior variances of `n` rows at s = 1.
double unit_prior_sd(double sum, double n);

/// Returns the spectrum of a linear model with prior covariance T T^T. `prior_factor` is T [r, r], lower
/// triangular; undefined: the identity. `weights` [r] are the trained weights; `features` [n_v, r] and
/// `residual` [n_v] belong to the validation rows. With `posterior_mean` the answers, and so the validation
/// NLL, use the posterior mean of the residual. O(r^3 + n_v r^2).
PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& weights, const at::Tensor& features,
                              const at::Tensor& residual, bool posterior_mean = false);

/// What is known about the noise of a network.
struct NetworkNoise {
  double mse;  // mean squared error on the network's own validation rows (noise of its head)
  /// Whether the validation rows of this fit were kept out of the network's training. If not, their errors
  /// are too small: they may raise the noise above `mse` but not lower it.
  bool unseen = true;
};

/// Returns the Laplace approximation of the log evidence, divided by n, of a regression with noise variance
/// sigma2 and prior w ~ N(0, s^2 T T^T):
///   log p(y | f) - ||T^-1 w||^2 / (2 s^2) - log |I + s^2 T^T Phi^T Phi T / sigma2| / 2,
/// where f is the trained network and w its weights (MacKay 1992; Daxberger et al. 2021). Use it to choose s
/// only. It says little about sigma2, because the network was fitted to the training rows.
double laplace_evidence(const PosteriorSpectrum& spectrum, double noise_var, double prior_sd);

/// Chooses the noise variance and the prior sd.
///
/// Ranges: the noise variance lies between 1e-3 times the network's mse (1 time if not NetworkNoise::unseen)
/// and 2 times the larger of this mse and the mean squared residual of the validation rows. With prior
/// "select" the prior sd lies between 0.01 and 10 times `unit`.
///
/// Criteria: with select "nll" and validation rows, the least validation NLL. With select "evidence", or
/// without validation rows, the noise variance is the network's mse and the prior sd maximises
/// laplace_evidence. Noise "mse" sets the noise variance to the network's mse; prior "unit" sets the prior sd
/// to `unit`, and prior "fixed" to prior_sd.
///
/// Search: a grid of 25 points for each chosen value, then refinement from the best point (least() of
/// log_range.h). Two chosen values are refined in turn until a round gains less than 1e-6 nats per row, so
/// the score is never worse than the best grid point's. Notes tell where the result is an end of its range,
/// and whether 10 or more rows have more than twice the mse that was taken as noise. Throws NumericalError if
/// no grid point has a finite score, and std::invalid_argument unless the mse is finite and above 0.
PosteriorChoice chosen(const PosteriorSpectrum& spectrum, const NetworkNoise& network,
                       const PosteriorChoiceOptions& options, double unit);

}  // namespace slimbayes
