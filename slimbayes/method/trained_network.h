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
/// it; a post-hoc method keeps its mean and adds a posterior. Train it once (train_network) and give it to
/// every such method by FitContext::start.
struct TrainedNetwork {
  NetworkSpec spec;      // its last layer is a Linear layer with one output per latent function
  Weights weights;       // float32, named "network.0.weight", ...; buffers included
  /// Its noise variance is the mean squared validation error of the encoded target (without validation rows,
  /// the training error). After a refit, that of the network that was trained without the validation rows.
  Head head = {};
  Summary summary = {};
  /// A module instead of layers: `spec` has the shape of a row and no layers, and `weights` are empty. bll
  /// and rich-bll take it, other methods refuse it.
  std::optional<ScriptNetwork> module = {};
  double target_var = 1;  // of the training rows; a module's target need not be standardised
};

/// How a network is trained.
struct NetworkTraining {
  TrainingOptions options;
  bool validates = true;           // false: the last parameters are kept, whatever their validation score
  const Weights* start = nullptr;  // initial weights; nullptr: drawn from the stream
  /// Called after every epoch with all parameters in one vector [p], in the order of network_parameters().
  std::function<void(const at::Tensor& values)> after_epoch = {};
  std::vector<at::Tensor> buffers = {};  // tensors that after_epoch changes; a checkpoint keeps them
};

/// Trains a network by AdamW and keeps the parameters with the best validation score (mean squared error, or
/// NLL for classes; without validation rows, the last ones). `spec` ends in its Linear output layer. `method`
/// is the name in messages. Throws std::invalid_argument for data that do not fit, NumericalError if training
/// fails.
TrainedNetwork train_network(const NetworkSpec& spec, const Split& split, const NetworkTraining& training,
                             const FitContext& context, std::string_view method);

/// Returns a module as a network that was trained on these rows, with its validation error (without
/// validation rows, its training error). Its outputs are the target of a regression, or the logits of
/// classes. Throws std::invalid_argument for another number of outputs, and what ScriptNetwork::verified
/// throws at the first rows.
TrainedNetwork trained_network(const ScriptNetwork& module, const Split& split, std::string_view method);

/// Returns the network that a method starts from: context.start if there is one, otherwise a network that is
/// trained now, or was trained before and is in context.networks. Throws std::invalid_argument also if
/// context.start has other inputs or outputs than the data, and for a module unless `takes_modules`.
TrainedNetwork starting_network(const TrainedNetworkOptions& options, const Split& split,
                                const FitContext& context, std::string_view method,
                                bool takes_modules = false);

/// Returns whether both are one network: the same layers with the same weights, bit by bit, or the same
/// module.
bool same_network(const TrainedNetwork& a, const TrainedNetwork& b);

}  // namespace slimbayes
