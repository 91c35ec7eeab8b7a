#pragma once

#include <map>
#include <string>
#include <vector>

#include "slimbayes/nn/parameters.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// How one group of parameters is updated.
struct GroupRate {
  double learning_rate;     // peak
  double weight_decay = 0;  // decoupled
};

/// The groups that the trainer updates, one per block of Parameters: the rate of the group in `rates`, times
/// the factors of the block (ParameterSpec). Entries of `rates` without parameters are ignored, such as the
/// network of a linear model. Throws std::logic_error for a group that is not in `rates`.
std::vector<ParameterGroup> parameter_groups(const Parameters& parameters,
                                             const std::map<std::string, GroupRate>& rates);

}  // namespace slimbayes
