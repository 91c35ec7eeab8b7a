#pragma once

#include <map>
#include <string>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns a training problem for a network on these rows, without the training step. It has the parameter
/// groups, the buffers, the source and plan of the batches, and the name of the validation score. The caller
/// adds the step and, if there are validation rows, the validation. `rates` has the learning rates and weight
/// decays by group (parameter_groups()); `metric` names what the validation measures, such as "NLL"; `ranks`
/// is FitContext::ranks.
TrainProblem network_problem(const Parameters& parameters, const std::map<std::string, GroupRate>& rates,
                             const Dataset& rows, const TrainingOptions& training, const Collective* ranks,
                             std::string_view metric = "NLL");

}  // namespace slimbayes
