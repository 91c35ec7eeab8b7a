#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/methods/portfolio/portfolio.h"

namespace slimbayes {

/// The score of all candidates together on the held-out rows.
struct Weighting {
  double nll = 0;      // the mean of row_nll by the weights of the rows
  at::Tensor row_nll;  // [n], of each held-out row
  /// The power of the pool of several candidates' class probabilities (pooled()); nullopt for other answers.
  std::optional<double> power;
};

/// Sets the weights of the candidates that have a held-out answer, and corrects the spread of their mixture;
/// with `best` the candidate with the least NLL has weight 1. `held` holds the tempered answers to the
/// held-out rows by candidate, each with n rows; at least one must be there. `targets` [n]; `weights` [n] of
/// the rows (Dataset::weights), undefined: each counts once. Candidates that have less than 2 % of a mixture,
/// or without which a pool of classes loses less than a quarter of a nat in all, get the weight 0, and so do
/// those whose NLL is more than a nat a row above that of `constant` or ten above that of the best. The
/// spread of a regression is corrected in the candidates, that of classes by the power that is returned.
Weighting weigh(std::vector<TriedCandidate>& tried, const std::vector<std::optional<Predictive>>& held,
                const at::Tensor& targets, bool best, const at::Tensor& weights = {});

/// Returns the answer of the candidates together, with weights that sum to 1: the logarithmic pool of several
/// answers of classes, with `power` times the weights (methods/portfolio/log_pool.h), the mixture of others
/// (answers/mixture.h). Throws as they do, and std::invalid_argument if there is no power where one is
/// needed.
Predictive pooled(const std::vector<Predictive>& answers, const std::vector<double>& weights,
                  std::optional<double> power);

}  // namespace slimbayes
