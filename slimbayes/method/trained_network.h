#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/script_network.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// A network trained on squared error (regression) or cross entropy (classes), as a value. `dnn` answers with
/// it; a post-hoc method keeps its mean and adds a posterior. Train it once (train_network) and pass it to
/// several methods by FitContext::start.
struct TrainedNetwork {
  /// Its last layer is a Linear layer with one output per latent function, in segmentation a 1 x 1 Conv2d.
  NetworkSpec spec;
  Weights weights;  // float32, named "network.0.weight", ...; buffers included
  /// What the outputs mean. The head's noise variance is the mean squared validation error of the encoded
  /// target (without validation rows, the training error), by the weights of the rows. After a refit, which
  /// trains on the validation rows too, it is the noise variance of the first training, which did not.
  Head head = {};
  Summary summary = {};
  /// A TorchScript module that replaces the layers: `spec` then has the shape of a row and no layers, and
  /// `weights` is empty. Only bll, rich-bll and last-layer-laplace take modules.
  std::optional<ScriptNetwork> module = {};
  /// Variance of the training targets, by their weights; a module's target need not be standardised.
  double target_var = 1;
};

/// How a network is trained.
struct NetworkTraining {
  TrainingOptions options;
  std::string class_weights = "none";  // TrainedNetworkOptions::class_weights
  double label_smoothing = 0;          // TrainedNetworkOptions::label_smoothing
  bool validates = true;               // false: the last parameters are kept, whatever their validation score
  const Weights* start = nullptr;      // initial weights; nullptr: drawn from the stream
  /// Called after every epoch with all parameters in one vector [p], in the order of network_parameters(), on
  /// FitContext::device.
  std::function<void(const at::Tensor& values)> after_epoch = {};
  std::vector<at::Tensor> buffers = {};  // tensors that after_epoch changes; a checkpoint keeps them
};

/// Trains a network with AdamW and keeps the parameters with the best validation score: mean squared error,
/// or NLL for classes. Without validation rows it keeps the last parameters. It trains on
/// FitContext::device, and the result is on the CPU. `spec` ends in the linear output layer. `method` is the
/// name in messages. Throws std::invalid_argument for data that do not fit, and NumericalError if training
/// fails.
TrainedNetwork train_network(const NetworkSpec& spec, const Split& split, const NetworkTraining& training,
                             const FitContext& context, std::string_view method);

/// Returns trained_network_spec() for rows of this schema: with an output for each latent function, and for
/// each pixel in segmentation.
NetworkSpec trained_network_spec(const TrainedNetworkOptions& options, const Schema& schema);

/// Returns a TorchScript module, which stays on the CPU, as a trained network. The module's outputs are the
/// target of a regression, or the logits of classes. For a regression, the noise variance is its mean
/// squared error on the validation rows (without them, on the training rows). Throws std::invalid_argument
/// for a wrong number of outputs, and if ScriptNetwork::verified rejects the module on the first 8 training
/// rows.
TrainedNetwork trained_network(const ScriptNetwork& module, const Split& split, std::string_view method);

/// Returns the network that a method starts from: context.start if given; else a network from
/// context.networks; else a network that is trained now. Throws std::invalid_argument as train_network, if
/// the inputs or outputs of context.start do not fit the data, and if context.start is a module and
/// `takes_modules` is false.
TrainedNetwork starting_network(const TrainedNetworkOptions& options, const Split& split,
                                const FitContext& context, std::string_view method,
                                bool takes_modules = false);

/// Returns whether both hold the same network: the same layers with the same weights, bit by bit, or the same
/// module.
bool same_network(const TrainedNetwork& a, const TrainedNetwork& b);

}  // namespace slimbayes
