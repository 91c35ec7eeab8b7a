#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/catalog/last_layer_options.h"
#include "slimbayes/core/linear_statistics.h"

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
  at::Tensor response;     // [r] squared coordinates of T^T Phi^T (y - f)
  double yy;               // sum of the squared residuals of the training rows
  double n;                // training rows
  // Validation rows; undefined without them.
  at::Tensor features;  // [n_v, r] squared coordinates
  at::Tensor extra;     // [n_v] prior variance outside the training rows' span; undefined: none
  at::Tensor residual;  // [n_v] y - f
  /// [n_v, r] products of a row's coordinates and those of the response; undefined: the mean is f itself
  at::Tensor mean_terms = {};
};

/// Throws std::invalid_argument for a prior_sd that the prior does not take: it belongs to prior "fixed".
void check_prior(const PosteriorChoiceOptions& options, const std::string& method);

/// Returns a note if the prior sd that was chosen for a classifier is an end of its range, 0.01 to 10 times
/// `unit`, that of prior "unit"; else "".
std::string class_prior_note(double prior_sd, double unit);

/// Returns the prior sd s with which the prior variance of f is 1 on average over the training rows; `sum` is
/// the sum of their prior variances at s = 1, over `n` rows.
double unit_prior_sd(double sum, double n);

/// Returns the spectrum of a linear model with prior covariance T T^T; T [r, r], or undefined for the
/// identity. `features` [n_v, r] and `residual` [n_v] are those of the validation rows. With
/// `posterior_mean` the validation NLL is that of answers with the residual's posterior mean. O(r^3 + n_v
/// r^2).
PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& features, const at::Tensor& residual,
                              bool posterior_mean = false);

/// Chooses the noise variance between 1e-3 and 2 times `mse`, the mean squared error of the network's
/// validation rows, and with prior "select" the prior sd among those with which f - network(x) has a prior
/// sd of 0.01 to 10 target_sd on average over the training rows. If the spectrum's validation rows, or
/// without any its training rows, have a larger mean squared residual (the network was trained on other
/// rows), the noise is at most 2 times that. With select "nll" the least validation NLL wins (without
/// validation rows, as with "evidence"), with "evidence" the largest evidence of the training residuals.
/// From the best point of a grid, 25 to each that is chosen, each is chosen anew for the other: the best of
/// its 25, refined by Brent's method between the neighbours; for two, in turn, until a round gains less than
/// 1e-6 nats a row. So the score is at most that of the best grid point. With noise "mse" the noise variance
/// is `mse`, with a note if 10 or more of those rows have more than twice that; with prior "unit" that prior
/// sd is target_sd, with "fixed" the prior sd of a weight is prior_sd. Throws NumericalError if no grid
/// point has a finite score, std::invalid_argument unless `mse` is finite and above 0. target_sd: of the
/// encoded target (Task::encoded_sd).
PosteriorChoice chosen(const PosteriorSpectrum& spectrum, double mse, const PosteriorChoiceOptions& options,
                       double target_sd = 1);

}  // namespace slimbayes
