#pragma once

#include <map>
#include <string>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the training problem of a network on these rows: parameter groups and buffers, batches, and the
/// name of the score. The caller adds the step and, if there are validation rows, the validation. `rates` as
/// in parameter_groups(); `metric` is the name of the validation score, such as "NLL".
TrainProblem network_problem(const Parameters& parameters, const std::map<std::string, GroupRate>& rates,
                             const Dataset& rows, const TrainingOptions& training,
                             std::string_view metric = "NLL");

}  // namespace slimbayes
