#pragma once

#include <memory>

#include "slimbayes/families/method.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// A fit that a series finished (train/fit_series.h), read back from its record. Throws DataError,
/// std::invalid_argument or NumericalError where it is damaged, or takes other inputs or answers to another
/// task than these rows.
std::unique_ptr<Fitted> finished_fit(const Row& method, const TensorFile& file, const Dataset& train);

}  // namespace slimbayes
