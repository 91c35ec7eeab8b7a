#pragma once

#include <memory>

#include "slimbayes/method/method.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Reads a finished fit from the record of a series (train/fit_series.h), so that the series can resume after
/// it. Throws DataError, std::invalid_argument or NumericalError if the record is damaged, or if the fit has
/// other inputs than the rows `train` or another task.
std::unique_ptr<Fitted> finished_fit(const RegistryRow& method, const TensorFile& file, const Dataset& train);

}  // namespace slimbayes
