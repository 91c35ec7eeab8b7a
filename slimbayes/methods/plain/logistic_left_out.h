#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/methods/plain/logistic_fit.h"
#include "slimbayes/methods/plain/logistic_rows.h"
#include "slimbayes/train/callback.h"

namespace slimbayes {

/// Gaussian logits in contrasts: mean [n, k] and covariance [n, k, k].
struct GaussianLogits {
  at::Tensor mean, covariance;
};

/// A block of rows with their classes and weights.
struct LogisticBlock {
  at::Tensor x, y, weight;  // [b, d], [b] classes, [b]
};

/// Returns the logits that a fit without a row would have at that row, for each row of the block: a step of
/// Newton's method from the mode of all rows (Rad and Maleki 2020), and the covariance without the row's
/// curvature. A row with a weight is one observation: it is left out with all of its weight, so that no copy
/// of it predicts it. `posterior` is that of all rows.
GaussianLogits left_out_logits(const LogisticDesign& design, const LogisticMode& mode,
                               const LaplacePosterior& posterior, const LogisticBlock& block);

/// The prior sd of the weights of a logistic regression, and the factor of their posterior covariance.
struct LogisticChoice {
  double prior_sd = 1;
  double spread = 1;  // factor of the posterior covariance, at most 1
};

/// Returns the prior sd and the spread that predict left-out rows best, searched from the prior sd with the
/// greatest evidence and the whole covariance downwards. The start is kept unless another pair is better by a
/// nat. A Gaussian around the mode is far too wide where a wide prior separates the classes: the likelihood
/// is flat on one side of the mode and steep on the other. If the callback (nullptr: none) stops the search,
/// the best pair so far is returned.
LogisticChoice logistic_choice(const LogisticRows& rows, double evidence_sd, Callback* callback);

}  // namespace slimbayes
