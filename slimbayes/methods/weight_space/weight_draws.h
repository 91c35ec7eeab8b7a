#pragma once

#include <cstdint>
#include <functional>

#include "slimbayes/data/dataset.h"
#include "slimbayes/method/head.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/weights.h"

namespace slimbayes {

/// A distribution over networks, represented by draws (mc-dropout, swag, bbb). All rows share the same draws,
/// so the answer to a row does not depend on the other rows.
struct WeightDraws {
  Shape input;    // of one row
  int64_t draws;  // S, how many there are
  /// Returns the network of draw s as a function from rows [b, ...] to outputs [b, k], both on the device of
  /// the weights. predict_by_draws calls it for each s, anew for every block of up to 16 batches of rows.
  std::function<std::function<at::Tensor(const Input& input)>(int64_t s)> network;
  /// Returns the outputs of all draws for few rows [b, ...] in one pass, [S b, k]: those of the first draw,
  /// then those of the second, and so on. Empty: the network can only answer draw by draw.
  std::function<at::Tensor(const Input& input)> together = {};
};

/// Returns the equally weighted mixture of the answers of all draws (mixture() of answers/answers.h). For a
/// regression the epistemic variance is the variance of the outputs over the draws; the aleatoric variance is
/// the noise variance of `head`. All draws answer one block of rows before the next block is read, and only
/// running sums are kept. So the memory does not grow with S, and the rows are read once. If there are at
/// most 64 rows (and at most 1024 steps of sequences), WeightDraws::together answers them, whose activations
/// grow with S. Batches are on options.device, where the weights must be; if that is the CPU, they are where
/// `data` has them. Throws as predict_rows (method/batches.h); `method` is the name in messages.
Predictive predict_by_draws(const WeightDraws& draws, const Head& head, const Dataset& data,
                            const PredictOptions& options, std::string_view method);

/// Returns these weights as float32 on a device. Use it where each of many draws looks them up.
Weights placed(const Weights& weights, at::Device device);

/// Returns the rows that noise_of_draws() reads: the validation rows or, without any, the training rows; of
/// training rows on disk enough for the estimate. On the device of the fit.
Dataset rows_of_noise(const Dataset& valid, const Dataset& train, const FitContext& context);

/// Returns the noise variance with which the answers of predict_by_draws have the least mean NLL on these
/// rows of a regression. Tries 49 values, evenly spaced on a logarithmic scale from 1e-3 to 2 times the mean
/// squared error of the mean over the draws.
double noise_of_draws(const WeightDraws& draws, const Dataset& rows, std::string_view method);

}  // namespace slimbayes
