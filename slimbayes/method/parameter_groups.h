#pragma once

#include <map>
#include <string>
#include <vector>

#include "slimbayes/nn/parameters.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// How one group of parameters is updated.
struct GroupRate {
  double learning_rate;     // peak of the schedule
  double weight_decay = 0;  // decoupled from the gradient, as in AdamW
};

/// Returns the groups for the trainer, one for each block of `parameters`. The learning rate and weight decay
/// of a block are those of its group in `rates` times the block's own factors (ParameterSpec). Entries of
/// `rates` without parameters are ignored; a linear model, for example, has no "network". Throws
/// std::logic_error for a group that is not in `rates`.
std::vector<ParameterGroup> parameter_groups(const Parameters& parameters,
                                             const std::map<std::string, GroupRate>& rates);

}  // namespace slimbayes
