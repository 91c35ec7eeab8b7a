#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/method/head.h"
#include "slimbayes/nn/script_network.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// What every fitted network keeps in its model file.
struct NetworkFile {
  nlohmann::json options;
  Head head;
  NetworkSpec spec;
  Weights weights;  // as trained
  Summary summary;
  std::optional<ScriptNetwork> module = {};  // stored as its archive, and the name of its last layer
};

/// Returns the metadata and tensors to write.
TensorFile to_file(const NetworkFile& net);

/// Reads a NetworkFile. Throws DataError for the file of an earlier version, DataError or std::invalid_argument if a part is absent, the layers of the
/// network do not fit each other, a weight is not finite, or the archive of a module cannot be read. Unlike
/// all else in the file, a module is a program; loading and evaluating it runs that program. Model::load
/// refuses such files.
NetworkFile network_file(const TensorFile& file);

/// Returns the weights named "network.", without what a method stores beside them.
Weights network_weights(const Weights& all);

/// Returns a stored number above 0. Throws DataError or std::invalid_argument, in the name of `method`, if it
/// is absent or another value.
double stored_positive(const Network::Lookup& lookup, const std::string& name, std::string_view method);

/// Adds the noise variance of a method's own answers to the tensors of a model file, where it is not that of
/// its network's head; adds nothing for classes (0).
void store_noise(double noise_var, Weights& weights);

/// Reads that noise variance: 0 unless `head` is one of a regression. Throws as stored_positive.
double stored_noise(const Weights& weights, const Head& head, std::string_view method);

}  // namespace slimbayes
