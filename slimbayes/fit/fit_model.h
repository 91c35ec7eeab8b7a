#pragma once

#include "slimbayes/export.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns the options for a fit that takes the trained network of the model FitOptions::network_from. The
/// options on examples, columns and split come from that model; those on method, seed, tuning, interval
/// level, threads and calibration come from `given`. Returns `given` if it names no model. Throws DataError
/// if the model cannot be read, and std::invalid_argument if its network has no linear output layer or the
/// method of `given` cannot start from a trained network.
SLIMBAYES_EXPORT FitOptions with_network_from(const FitOptions& given);

/// Splits the examples, fits the encoder on the training part, fits the method, and returns the model. The
/// options are checked before the data are split. `valid` is separate validation data, which replaces the
/// validation fraction; nullptr: none. If the validation rows do not determine the noise of a regression
/// reliably, it is estimated by cross-fitting (noise_folds.h). `callback` receives the notes on the
/// data (notes_before_training) before the training starts. `networks` holds trained networks for several
/// fits of the same examples (FitContext::networks); nullptr: the fit shares none. Throws
/// std::invalid_argument, DataError or NumericalError.
SLIMBAYES_EXPORT Model fit_model(const Examples& examples, const FitOptions& options,
                                 const Examples* valid = nullptr, Callback* callback = nullptr,
                                 CheckpointPolicy checkpoint = {}, NetworkCache* networks = nullptr);

}  // namespace slimbayes
