#pragma once

#include <memory>

#include "slimbayes/catalog/last_layer/bll_options.h"
#include "slimbayes/catalog/last_layer/rich_bll_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/script_network.h"

namespace slimbayes {

/// Adds a posterior variance to a network of your own, a TorchScript module: the method rich-bll, without
/// training. The mean is the module's. `data` are the rows that it was trained on, and validation rows, which
/// choose the noise (`valid` may be empty); regression_data and class_data make them from tensors. The inputs
/// are those of the module. A regression's target is in the units of the module's output, and so are mean and
/// variance; the prior "unit" takes the sd of the target. Options of the network and its training are not
/// used; refit is refused. The notes in the summary say how A^T A was computed.
///
/// The result predicts, updates and saves as any fitted method; registry_row("rich-bll").load reads it back.
/// Throws std::invalid_argument for rows and modules that do not fit each other (trained_network), and
/// NumericalError.
std::unique_ptr<Fitted> rich_bll(const ScriptNetwork& network, const Split& data,
                                 const RichBllOptions& options = {}, const Stream& stream = Stream(0));

/// The same with the method bll.
std::unique_ptr<Fitted> bll(const ScriptNetwork& network, const Split& data, const BllOptions& options = {},
                            const Stream& stream = Stream(0));

}  // namespace slimbayes
