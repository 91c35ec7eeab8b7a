#pragma once

#include <memory>

#include "slimbayes/catalog/last_layer/bll_options.h"
#include "slimbayes/catalog/last_layer/rich_bll_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/script_network.h"

namespace slimbayes {

/// Adds a posterior variance to a network of your own, a TorchScript module, with the method rich-bll and
/// without training. The mean is the module's output. `data` holds the rows on which the module was trained,
/// and validation rows, which choose the noise (`valid` may be empty); make them from tensors by
/// regression_data and class_data. The inputs are the module's inputs. For a regression, target, mean and
/// variance are in the units of the module's output; the prior "unit" uses the sd of the target. Options of
/// the network and its training have no effect; refit is refused. The notes in the summary say how A^T A was
/// computed.
///
/// The result predicts, updates and saves like any fitted method; registry_row("rich-bll").load reads it.
/// Throws std::invalid_argument for rows and modules that do not fit each other (trained_network), and
/// NumericalError if the computation fails.
std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                 const RichBllOptions& options = {}, const Stream& stream = Stream(0));

/// The same with the method bll.
std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data, const BllOptions& options = {},
                            const Stream& stream = Stream(0));

}  // namespace slimbayes
