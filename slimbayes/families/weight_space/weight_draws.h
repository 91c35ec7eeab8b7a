#pragma once

#include <cstdint>
#include <functional>

#include "slimbayes/data/dataset.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {

/// A distribution over networks, represented by draws (mc-dropout, swag, bbb). All rows share the same draws,
/// so the answer to a row does not depend on the other rows.
struct WeightDraws {
  Shape input;    // of one row
  int64_t draws;  // S
  /// Returns draw s as a function from rows [b, ...] to outputs [b, k]. Called once for every block of up to
  /// 16 batches of rows.
  std::function<std::function<at::Tensor(const Input& input)>(int64_t s)> network;
};

/// Returns the mixture of the answers of all draws (core/answers.h). For a regression the epistemic variance
/// is the variance of the outputs over the draws; the aleatoric variance is the head's noise. All draws
/// answer one block of rows before the next block is read, and only running sums are kept: memory does not
/// grow with S, and the rows are read once. Throws as predict_rows (method/batches.h); `method` is the name
/// in messages.
Predictive predict_by_draws(const WeightDraws& draws, const Head& head, const Dataset& data,
                            const PredictOptions& options, std::string_view method);

/// Returns the noise variance of a regression with the least NLL on these rows. Tries 49 values from 1e-3 to
/// 2 times the mean squared error of the draws' mean.
double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method);

}  // namespace slimbayes
