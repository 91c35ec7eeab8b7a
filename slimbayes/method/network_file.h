#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/nn/script_network.h"
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
  std::optional<ScriptNetwork> module = {};  // stored as its archive, and the name of its last layer
};

/// Returns the metadata and tensors to write.
TensorFile to_file(const NetworkFile& net);

/// Reads a NetworkFile. Throws DataError or std::invalid_argument if a part is absent, the layers of the
/// network do not fit each other, a weight is not finite, or the archive of a module cannot be read. Unlike
/// all else in the file, a module is a program; loading and evaluating it runs that program. Model::load
/// refuses such files.
NetworkFile network_file(const TensorFile& file);

/// Returns the weights named "network.", without what a method stores beside them.
Weights network_weights(const Weights& all);

/// Returns a stored number above 0. Throws DataError or std::invalid_argument, in the name of `method`, if it
/// is absent or another value.
double stored_positive(const Network::Lookup& lookup, const std::string& name, std::string_view method);

/// The noise variances in the model file of a regression around a trained network. Both are 0 for classes,
/// whose files hold neither.
struct StoredNoise {
  double own = 0;      // of the method's answers
  double network = 0;  // TrainedNetwork::noise_var
};

/// Adds the noise variances of a regression to the tensors of a model file; adds nothing for classes.
void store_noise(const StoredNoise& noise, Weights& weights);

/// Reads the noise variances from the tensors of a model file. Throws as stored_positive.
StoredNoise stored_noise(const Weights& weights, std::string_view method);

}  // namespace slimbayes
