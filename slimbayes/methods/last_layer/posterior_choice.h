#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/core/log_range.h"
#include "slimbayes/methods/last_layer/last_layer_options.h"

namespace slimbayes {

/// Returns the fact for the summary (Summary::facts) that cross-fitting has raised the noise variance of a
/// posterior to `var` (Fitted::with_noise).
std::string raised_noise_fact(double var);

/// The noise and the prior of a posterior around a trained network.
struct PosteriorChoice {
  double noise_var = 0;  // sigma2 of a regression, in units of its encoded target
  double prior_sd = 1;   // s
  /// Sentences for the user: a value is an end of the range that was searched, or the errors are much larger
  /// than the noise.
  std::vector<std::string> notes = {};
};

/// The posterior of a regression's residuals y - f(x) in coordinates in which it is diagonal, whatever the
/// noise variance sigma2 and the prior sd s. It makes the score of a pair (sigma2, s) cheap. Phi are the
/// features of the training rows and s^2 T T^T is the prior covariance. A row with the features phi has the
/// coordinates V^T T^T phi, where V are the eigenvectors of T^T Phi^T Phi T. With h_j = 1 + s^2 eigenvalues_j
/// / sigma2, the epistemic variance of the row is
///   s^2 extra + sum_j s^2 features_j / h_j,
/// and the posterior mean of its residual is sum_j (s^2 / sigma2) mean_terms_j / h_j.
struct PosteriorSpectrum {
  at::Tensor eigenvalues;  // [r] of T^T Phi^T Phi T, >= 0
  double yy;               // sum of the squared residuals of the training rows
  double n;                // training rows, by their weights
  /// ||T^-1 w||^2 of the trained weights w: the evidence needs it, because their prior is N(0, s^2 T T^T).
  double weights_squared;
  // The members below describe the n_v validation rows; undefined without such rows.
  at::Tensor features = {};  // [n_v, r] squares of the coordinates of each row
  at::Tensor extra = {};     // [n_v] prior variance at s = 1 outside the training rows' span; undefined: 0
  at::Tensor residual = {};  // [n_v] y - f(x)
  at::Tensor weight = {};    // [n_v] Batch::weight of the rows; undefined if each counts once
  /// [n_v, r] the coordinates of each row times V^T T^T Phi^T (y - f), element by element. Undefined if the
  /// answer's mean is f(x) itself, without the posterior mean of the residual.
  at::Tensor mean_terms = {};
};

/// Throws std::invalid_argument if the option prior_sd is set and the option prior is not "fixed": it would
/// have no effect. `method` is the name in messages.
void check_prior(const PosteriorChoiceOptions& options, const std::string& method);

/// Returns the range of prior sds that the option prior = "select" searches: 0.01 to 10 times `unit`. `unit`
/// is the prior sd of prior = "unit" (unit_prior_sd).
LogRange prior_range(double unit);

/// Returns a note to the user if the prior sd that a classifier's fit chose is an end of prior_range(unit);
/// else "".
std::string class_prior_note(double prior_sd, double unit);

/// Returns the prior sd s for which the prior variance of f is 1 on average over the training rows. `sum` is
/// the sum of the prior variances of `n` rows at s = 1.
double unit_prior_sd(double sum, double n);

/// Returns the posterior's spectrum for the prior covariance s^2 T T^T of the weights. `prior_factor` is T
/// [r, r], lower triangular; undefined: the identity. `residuals` are the statistics of the training rows,
/// `weights` [r] the trained weights; `features` [n_v, r] and `residual` [n_v] belong to the validation rows
/// (undefined: there are none). With `posterior_mean` the answers, and so the validation NLL, add the
/// posterior mean of the residual to f(x). The caller sets PosteriorSpectrum::weight. O(r^3 + n_v r^2).
PosteriorSpectrum spectrum_of(const LinearStatistics& residuals, const at::Tensor& prior_factor,
                              const at::Tensor& weights, const at::Tensor& features,
                              const at::Tensor& residual, bool posterior_mean = false);

/// What is known about the noise of a network.
struct NetworkNoise {
  double mse;  // mean squared error on the network's own validation rows (Head::noise_var)
  /// Whether the validation rows of this fit were kept out of the network's training. If not, their errors
  /// are too small: they may raise the noise variance above `mse` but not lower it.
  bool unseen = true;
};

/// Returns the Laplace approximation of the log evidence, divided by n, of a regression with noise variance
/// sigma2 and prior w ~ N(0, s^2 T T^T). The log evidence is
///   log p(y | f) - ||T^-1 w||^2 / (2 s^2) - log |I + s^2 T^T Phi^T Phi T / sigma2| / 2,
/// where f is the trained network, w its weights and Phi the features of the training rows (MacKay 1992;
/// Daxberger et al. 2021). Use it to choose s only. It says little about sigma2, because the network was
/// fitted to the training rows.
double laplace_evidence(const PosteriorSpectrum& spectrum, double noise_var, double prior_sd);

/// Chooses the noise variance and the prior sd, as `options` say. "Searched" values are those that the data
/// choose.
///
/// Criterion. With select = "nll" and validation rows, the searched values minimise the validation NLL, a
/// mean over the rows by their weights. With select = "evidence", or without validation rows, the noise
/// variance is the network's mse, and a searched prior sd maximises laplace_evidence.
///
/// Noise variance. With noise = "mse" it is the network's mse. With "select" it is searched between 1e-3
/// times the network's mse (1 time if not NetworkNoise::unseen) and 2 times the larger of this mse and the
/// mean squared residual of the validation rows.
///
/// Prior sd. With prior = "fixed" it is the option prior_sd, with "unit" the argument `unit` (unit_prior_sd),
/// with "select" it is searched in prior_range(unit).
///
/// Search. A grid of 25 points for each searched value, then refinement from the best point (least_score() of
/// log_range.h). Two searched values are refined in turn until a round gains less than 1e-6 nats per row, so
/// the score is never worse than at the best grid point. A note says if a searched value is an end of its
/// range. If the noise variance is the network's mse, a note says if the mean squared residual of the rows
/// (10 or more) is over twice as large. Throws NumericalError if no grid point has a finite score, and
/// std::invalid_argument unless the mse is finite and above 0.
PosteriorChoice chosen(const PosteriorSpectrum& spectrum, const NetworkNoise& network,
                       const PosteriorChoiceOptions& options, double unit);

}  // namespace slimbayes
