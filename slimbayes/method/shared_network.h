#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/trained_network_options.h"
#include "slimbayes/method/loss_gradient.h"
#include "slimbayes/method/method.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/nn/weights.h"
#include "slimbayes/storage/tensor_file.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

// One network with an output for each of k targets (multitask learning: Caruana 1997). Its loss is the mean
// over rows of the sum over the targets that the row has of the squared error of the standardised target.
// A target that a row lacks is NaN: it adds nothing to the loss, and no gradient flows from it.

/// A network that was trained on k targets of the same rows.
struct SharedNetwork {
  NetworkSpec spec;      // its last layer is a Linear layer with k outputs
  Weights weights;       // as TrainedNetwork::weights
  at::Tensor noise_var;  // [k] float64: of each target the mean squared error, by the weights of the rows
  Summary summary = {};
};

/// Returns the loss of a batch, and its gradient in closed form: 2 (f - y) / b where y is known, else 0.
/// output f [b, k]; y [b, k], NaN where a row lacks a target.
LossGradient masked_loss_gradient(const at::Tensor& output, const at::Tensor& y);

/// Trains the network with the loss above, as train_network does with that of one target: by AdamW on batches
/// that are drawn by the weights of the rows, and with the parameters of the best loss on the validation
/// rows, or without these the last ones. The noise variance of a target is that of its validation rows; of a
/// target without any, that of its training rows. The target of both datasets is [n, k], standardised, NaN
/// where a row lacks it. `method` is the name in messages. Throws std::invalid_argument if there are no
/// training rows or a target has none, and for class weights and label smoothing, which are for classes;
/// NumericalError if training fails.
SharedNetwork train_shared_network(const TrainedNetworkOptions& options, const Split& split,
                                   const FitContext& context, std::string_view method);

/// Returns the network of the target with this number, from 0: all layers of the shared network but the last,
/// of which it has one row. So its output is the column of the shared network's outputs with this number. Its
/// summary is empty: nothing was trained on this target alone.
TrainedNetwork network_of_target(const SharedNetwork& shared, int64_t target);

/// to_file returns the network as the contents of a file, which shared_network_from reads. The latter throws
/// DataError or std::invalid_argument for another file.
TensorFile to_file(const SharedNetwork& shared);
SharedNetwork shared_network_from(const TensorFile& file);

}  // namespace slimbayes
