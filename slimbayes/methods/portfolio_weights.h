#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "slimbayes/core/predictive.h"
#include "slimbayes/methods/portfolio.h"

namespace slimbayes {

/// Sets the weights of the candidates that have a held-out answer, and corrects the spread of their mixture;
/// with `best` the candidate with the least NLL has weight 1. `held` holds the tempered answers to the
/// held-out rows by candidate, each with n rows; at least one must be there. `targets` [n]. Candidates that
/// explain less than 2 % of the rows, or whose NLL is more than a nat above that of `constant` or ten
/// above that of the best, get the weight 0. Returns the NLL of the mixture on these rows.
double weigh(std::vector<Tried>& tried, const std::vector<std::optional<Predictive>>& held,
             const at::Tensor& targets, bool best);

}  // namespace slimbayes
