#pragma once

#include <memory>

#include "slimbayes/method/method.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Returns a fitted model that an interrupted series of fits had finished and stored in a checkpoint file
/// (train/jobs.h), so that the resumed series need not repeat it. Throws DataError,
/// std::invalid_argument or NumericalError if the record is damaged, or if the model takes other inputs than
/// the rows `train` or answers another task.
std::unique_ptr<Fitted> finished_fit(const RegistryRow& method, const TensorFile& file, const Dataset& train);

}  // namespace slimbayes
