#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/methods/portfolio.h"

namespace slimbayes {

/// The mixture of the candidates on the held-out rows.
struct Weighed {
  double nll = 0;
  /// Of the class probabilities of the mixture (core/tempering.h). The mean of answers that are sure about
  /// different rows is less sure than they are together. 1 for a single candidate, which has a power already.
  double power = 1;
};

/// Sets the weights of the candidates that have a held-out answer, and corrects the spread of their mixture;
/// with `best` the candidate with the least NLL has weight 1. `held` holds the tempered answers to the
/// held-out rows by candidate, each with n rows; at least one must be there. `targets` [n]. Candidates that
/// explain less than 2 % of the rows, or whose NLL is more than a nat above that of `constant` or ten
/// above that of the best, get the weight 0. The spread of a regression is corrected in the candidates, that
/// of classes by the power that is returned.
Weighed weigh(std::vector<Tried>& tried, const std::vector<std::optional<Predictive>>& held,
              const at::Tensor& targets, bool best);

}  // namespace slimbayes
