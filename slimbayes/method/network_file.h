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

/// What the model file of every method with a network holds. to_file() and network_file() convert between
/// this struct and the file.
struct NetworkFile {
  nlohmann::json options;  // every option of the method
  Head head;
  NetworkSpec spec;
  Weights weights;  // of the network, as trained, and the tensors that the method stores beside them
  Summary summary;
  std::optional<ScriptNetwork> module = {};  // stored as its archive and its last layer's name
};

/// Returns the contents of the model file: the options, head, spec and summary as JSON texts, and the weights
/// as tensors. A method may add its own metadata before the file is written.
TensorFile to_file(const NetworkFile& net);

/// Reads what to_file() wrote. Throws DataError for a file of an earlier version. Throws DataError or
/// std::invalid_argument if a part is absent, the layers do not fit each other, a weight is not finite, or a
/// module's archive cannot be read. A module is a program, unlike everything else in the file: loading and
/// evaluating it runs that program, so Model::load refuses such files.
NetworkFile network_file(const TensorFile& file);

/// Returns the weights whose names begin with "network.": those of the network, without the tensors that a
/// method stores beside them.
Weights network_weights(const Weights& all);

/// Returns the scalar that the model file stores under `name` and that must be above 0. Throws DataError or
/// std::invalid_argument if it is absent or not above 0. The message begins with `method`.
double stored_positive(const Network::Lookup& lookup, const std::string& name, std::string_view method);

/// Adds the noise variance of a method's answers to the tensors of a model file. Use it where this noise
/// differs from the noise of the network's head. For a regression only.
void store_noise(double noise_var, Weights& weights);

/// Returns the noise variance that store_noise wrote; 0 if `head` is not that of a regression. Throws as
/// stored_positive.
double stored_noise(const Weights& weights, const Head& head, std::string_view method);

}  // namespace slimbayes
