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

TensorFile to_file(const NetworkFile& net);

/// Throws DataError or std::invalid_argument for a file that lacks a part, holds a network that does not
/// chain or a weight that is not finite.
NetworkFile network_file(const TensorFile& file);

}  // namespace slimbayes
