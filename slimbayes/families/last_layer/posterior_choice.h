#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/catalog/last_layer/last_layer_options.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/families/last_layer/log_range.h"

namespace slimbayes {

/// Returns what a summary says of a posterior whose noise variance was raised (Fitted::with_noise).
std::string raised_noise_fact(double var);

/// The hyperparameters of a posterior around a trained network.
struct PosteriorChoice {
  double noise_var = 0;  // sigma2 of a regression, in units of its encoded target
  double prior_sd = 1;   // s
  /// Sentences for the user: which of them is the end of the range that was searched.
  std::vector<std::string> notes = {};
};

/// The posterior of a regression's residuals y - f(x) in coordinates in which it is diagonal for every noise
/// sigma2 and prior sd s. With h_j = 1 + s^2 eigenvalues_j / sigma2, the epistemic variance of a row is
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
  at::Tensor extra = {};     // [n_v] prior variance outside the training rows' span; undefined: none
  at::Tensor residual = {};  // [n_v] y - f
  /// [n_v, r] products of a row's coordinates and those of the response; undefined: the mean is f itself
  at::Tensor mean_terms = {};
};

/// Throws std::invalid_argument for a prior_sd that the prior does not take: it belongs to prior "fixed".
void check_prior(const PosteriorChoiceOptions& options, const std::string& method);

/// Returns the range in which prior "select" looks: 0.01 to 10 times `unit`, that of prior "unit".
LogRange prior_range(double unit);

/// Returns a note if the prior sd that was chosen for a classifier is an end of prior_range(unit); else "".
std::string class_prior_note(double prior_sd, double unit);

/// Returns the prior sd s with which the prior variance of f is 1 on average over the training rows; `sum` is
/// the sum of their prior variances at s = 1, over `n` rows.
double unit_prior_sd(double sum, double n);

/// Returns the spectrum of a linear model with prior covariance T T^T; T [r, r] lower triangular, or
/// undefined for the identity. `weights` [r] are the trained ones; `features` [n_v, r] and `residual` [n_v]
/// are those of the validation rows. With `posterior_mean` the validation NLL is that of answers with the
/// residual's posterior mean. O(r^3 + n_v r^2).
PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& weights, const at::Tensor& features,
                              const at::Tensor& residual, bool posterior_mean = false);

/// The noise that a network is known to have.
struct NetworkNoise {
  double mse;  // mean squared error of the rows that validated its training (the noise of its head)
  /// Whether the validation rows of this fit had no part in the network's training. If they may have had one,
  /// their errors are too small: they can raise the noise above `mse`, not lower it.
  bool unseen = true;
};

/// Returns the Laplace approximation of the log evidence, divided by n, of a regression with noise variance
/// sigma2 and prior w ~ N(0, s^2 T T^T):
///   log p(y | f) - ||T^-1 w||^2 / (2 s^2) - log |I + s^2 T^T Phi^T Phi T / sigma2| / 2
/// with f the trained network and w its weights (MacKay 1992; Daxberger et al. 2021). It chooses s alone: the
/// training rows' errors are those of a network that was fitted to them and tell little about sigma2.
double laplace_evidence(const PosteriorSpectrum& spectrum, double noise_var, double prior_sd);

/// Chooses the hyperparameters. With select "nll" and validation rows the least validation NLL wins: the
/// noise variance lies between 1e-3 (NetworkNoise::unseen; else 1) and 2 times the network's mse, or 2 times
/// the mean squared residual of these rows if that is larger, and with prior "select" the prior sd between
/// 0.01 and 10 times `unit`. With select "evidence", and without validation rows, the noise variance is the
/// network's mse and the prior sd has the largest laplace_evidence. With noise "mse" the noise variance is
/// the network's mse; with prior "unit" the prior sd is `unit`, with "fixed" it is prior_sd.
/// From the best point of a grid, 25 to each that is chosen, each is chosen anew for the other (least of
/// log_range.h); for two, in turn, until a round gains less than 1e-6 nats a row. So the score is at most
/// that of the best grid point. Notes say where the best is the end of a range, and that 10 or more rows have
/// more than twice the mse that is taken as noise. Throws NumericalError if no grid point has a finite score,
/// std::invalid_argument unless the mse is finite and above 0.
PosteriorChoice chosen(const PosteriorSpectrum& spectrum, const NetworkNoise& network,
                       const PosteriorChoiceOptions& options, double unit);

}  // namespace slimbayes
