#pragma once

#include <memory>

#include "slimbayes/catalog/last_layer/bll_options.h"
#include "slimbayes/catalog/last_layer/rich_bll_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/script_network.h"

namespace slimbayes {

/// Adds a posterior variance to a network of your own, a TorchScript module, with the method rich-bll and
/// without training. The mean of the answers is the module's output. `data` holds the rows on which the
/// module was trained, and validation rows, from which the noise is chosen (`valid` may be empty). Make both
/// from tensors by regression_data or class_data (data/dataset.h); the inputs are those of the module. For a
/// regression, target, mean and variance are in the units of the module's output, and the prior sd of prior
/// "unit" is in proportion to the sd of the target. Options of the network and its training have no effect;
/// the option refit throws. Summary::facts of the result says in which way the sums of the module's gradients
/// were computed (RichBllOptions::route).
///
/// The result predicts, updates and saves like any fitted method; registry_row("rich-bll").load reads it.
/// Throws std::invalid_argument for rows and modules that do not fit each other (trained_network), and
/// NumericalError if the computation fails.
std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                 const RichBllOptions& options = {}, const Stream& stream = Stream(0));

/// Does the same with the method bll instead of rich-bll, which needs no gradients of the module.
std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data, const BllOptions& options = {},
                            const Stream& stream = Stream(0));

}  // namespace slimbayes
