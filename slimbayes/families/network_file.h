#pragma once

#include <nlohmann/json.hpp>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// What every fitted network keeps in its model file.
struct NetworkFile {
  nlohmann::json options;
  NetworkSpec spec;
  Weights weights;  // as trained
  Summary summary;
};

/// Returns the metadata and tensors to write.
TensorFile to_file(const NetworkFile& net);

/// Reads a NetworkFile. Throws DataError or std::invalid_argument if a part is absent, the layers of the
/// network do not fit each other, or a weight is not finite.
NetworkFile network_file(const TensorFile& file);

}  // namespace slimbayes
