#pragma once

#include <memory>

#include "slimbayes/method/method.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// Reads back a finished fit from the record of a series (train/fit_series.h), to resume after it. Throws
/// DataError, std::invalid_argument or NumericalError if the record is damaged, or if the fit takes other
/// inputs than the rows `train` or answers another task.
std::unique_ptr<Fitted> finished_fit(const Row& method, const TensorFile& file, const Dataset& train);

}  // namespace slimbayes
