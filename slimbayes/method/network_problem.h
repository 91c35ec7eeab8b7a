#pragma once

#include <map>
#include <string>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/parameter_groups.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the training problem of a network at these rows: its parameter groups and buffers, the batches and
/// the name of its score. The caller adds the step and, where there are validation rows, the validation.
/// `rates` as parameter_groups() takes them; `metric` is the name of the validation score, such as "NLL".
TrainProblem network_problem(const Parameters& parameters, const std::map<std::string, GroupRate>& rates,
                             const Dataset& rows, const TrainingOptions& training,
                             std::string_view metric = "NLL");

}  // namespace slimbayes
