#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/core/likelihood.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/families/method.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// The rows of a batch as a network of this type reads them; tokens stay whole numbers.
Input input_of(const Batch& batch, at::ScalarType type = at::kFloat);

/// The rows that a network trains on, those of a table in float32 in memory. Throws std::invalid_argument for
/// no rows, rows without inputs, a target that is absent (but of events); of a table also for numbers that
/// are not finite and targets that are no class or count.
Dataset training_data(const Dataset& data, std::string_view function);

/// Checks and converts validation rows as training_data does. An empty dataset is allowed and gives an empty
/// one. Throws std::invalid_argument also for inputs of another shape than those of `train`.
Dataset validation_data(const Dataset& data, const Dataset& train, std::string_view function);

/// Rows of like length in one batch where they have lengths; else empty, the trainer's own plan.
BatchPlan batch_plan(const Dataset& data, const TrainingOptions& options);

/// Mean over the rows of a per-row loss [b], without gradients, a batch at a time, the rows in float32.
double mean_over_rows(const Dataset& data,
                      const std::function<at::Tensor(const Input& input, const at::Tensor& y)>& loss);

/// Calls `each` on the rows, a batch at a time, without gradients: at most options.batch rows, fewer where
/// they are large. An empty dataset gives one empty batch.
void over_batches(const Dataset& data, const PredictOptions& options,
                  const std::function<void(const Batch& batch)>& each);

/// `answer` on the rows, their numbers in `type`, a batch at a time. An empty dataset gives an empty answer.
/// Throws std::invalid_argument for rows of another shape than `input` and for numbers that are not finite.
Predictive predict_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                        const PredictOptions& options, std::string_view function,
                        const std::function<Predictive(const Input& input)>& answer);

/// A belief over latent functions, likewise. [n, k]
Latent latent_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                   const PredictOptions& options, std::string_view function,
                   const std::function<Latent(const Input& input)>& answer);

}  // namespace slimbayes
