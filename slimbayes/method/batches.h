#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "slimbayes/core/likelihood.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the inputs of a batch in `type`, with its mask. Tokens stay int64.
Input input_of(const Batch& batch, at::ScalarType type = at::kFloat);

/// Checks the training rows of a network batch by batch, and returns the dataset unchanged. `function` is the
/// method's name. Throws std::invalid_argument for a task that the method does not take, no rows, no input
/// column, inputs whose shape differs from the schema, numbers that are not finite in float32, a missing
/// target (events need none), or a target that is not a class or count as the task requires.
Dataset training_rows(const Dataset& data, std::string_view function);

/// Checks validation rows as training_rows does. An empty dataset is allowed and gives an empty one. Also
/// throws std::invalid_argument if the inputs differ in shape from those of `train`; texts may differ in
/// length.
Dataset validation_rows(const Dataset& data, const Dataset& train, std::string_view function);

/// All rows of a dataset in memory, for a method that needs them at once, such as one with a dense kernel
/// matrix.
struct RowTensors {
  at::Tensor x;  // [n, d]
  at::Tensor y;  // [n]; undefined for a dataset without rows
};

/// Returns the inputs and the target of checked rows in `type`.
RowTensors tensors_of(const Dataset& rows, at::ScalarType type);

/// Throws std::invalid_argument unless the catalogue says that the method takes this task. The message lists
/// the methods that do.
void check_task(const Task& task, std::string_view method);

/// Returns a plan that puts rows of similar length into one batch if the source has lengths (texts).
/// Otherwise returns an empty plan, and the trainer uses its own.
BatchPlan batch_plan(const Dataset& data, const TrainingOptions& options);

/// Returns the targets of all rows. Gathers them batch by batch, because the inputs of all rows may not fit
/// in memory. Undefined if there are no rows or the rows have no targets.
at::Tensor targets_of(const Dataset& data);

/// Returns the mean over the rows of a per-row loss [b], computed batch by batch in float32 without
/// gradients.
double mean_over_rows(const Dataset& data,
                      const std::function<at::Tensor(const Input& input, const at::Tensor& y)>& loss);

/// Calls `each` on consecutive batches, without gradients unless `options` asks for them. A batch has at most
/// options.batch rows, fewer if the rows are large. An empty dataset gives one empty batch.
void over_batches(const Dataset& data, const PredictOptions& options,
                  const std::function<void(const Batch& batch)>& each);

/// Applies `answer` to the rows batch by batch, with inputs in `type`, and joins the answers. An empty
/// dataset gives an empty answer. Throws std::invalid_argument for rows whose shape is not `input`, or
/// numbers that are not finite.
Predictive predict_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                        const PredictOptions& options, std::string_view function,
                        const std::function<Predictive(const Input& input)>& answer);

/// As predict_rows, for `answers` that gets up to 16 batches at once and returns the answer to each. Use it
/// where something costly, such as a draw of all weights, serves many batches.
Predictive predict_groups(const Dataset& data, const Shape& input, at::ScalarType type,
                          const PredictOptions& options, std::string_view function,
                          const std::function<std::vector<Predictive>(const std::vector<Input>&)>& answers);

/// As predict_rows, for a function that returns the mean and variance of the latent functions. [n, k]
Latent latent_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                   const PredictOptions& options, std::string_view function,
                   const std::function<Latent(const Input& input)>& answer);

}  // namespace slimbayes
