#pragma once

#include <cstdint>
#include <functional>

#include "slimbayes/data/dataset.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {

/// A distribution over networks, given by draws from it (mc-dropout, swag, bbb). The same draws serve every
/// row, so the answer to a row does not depend on the others.
struct WeightDraws {
  Shape input;    // of one row
  int64_t draws;  // S
  /// Returns draw s, a function from rows [b, ...] to outputs [b, k]. It is called once for each
  /// block of rows, which is up to 16 batches.
  std::function<std::function<at::Tensor(const Input& input)>(int64_t s)> network;
};

/// Returns the mixture of the answers of all draws (core/answers.h): the epistemic variance of a regression
/// is the variance of the outputs over the draws, its aleatoric variance that of the head. All draws answer a
/// block of rows before the next block is read, and only running sums are held: memory does not grow with S,
/// and the rows are read once. Throws as predict_rows (method/batches.h), in the name of `method`.
Predictive predict_by_draws(const WeightDraws& draws, const Head& head, const Dataset& data,
                            const PredictOptions& options, std::string_view method);

/// Returns the noise variance of a regression with the least NLL on these rows, of 49 from 1e-3 to 2 times
/// the mean squared error of the draws' mean.
double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method);

}  // namespace slimbayes
