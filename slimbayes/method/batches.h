#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string_view>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/method/method.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {

/// Returns the inputs of a batch, converted to `type`, with the batch's padding mask. Tokens stay int64.
Input input_of(const Batch& batch, at::ScalarType type = at::kFloat);

/// Checks the training rows batch by batch and returns the dataset, with its batches on `device`
/// (FitContext::device, of a method that computes there). `function` is the method's name, with which
/// messages begin. Throws std::invalid_argument for a task that the method does not take, no rows, no input
/// column, inputs whose shape differs from the schema, numbers that are not finite in float32, a missing
/// target (events need none), or a target that is not a class or count as the task requires.
Dataset training_rows(const Dataset& data, std::string_view function, at::Device device = at::kCPU);

/// Returns the rows that this process can read: all of them, but for rows of which every rank has a part
/// (Source::OnDisk).
Dataset rows_at_hand(const Dataset& data);

/// Checks validation rows as training_rows does, and returns them on the device of `train`. An empty dataset
/// is allowed and gives an empty one. Also throws std::invalid_argument if the inputs differ in shape from
/// those of `train`; texts may differ in length.
Dataset validation_rows(const Dataset& data, const Dataset& train, std::string_view function);

/// All rows of a dataset in memory, for a method that needs them at once, such as one with a dense kernel
/// matrix.
struct RowTensors {
  at::Tensor x;            // [n, d]
  at::Tensor y;            // [n]; undefined for a dataset without rows
  at::Tensor weight = {};  // [n] Batch::weight, float64; undefined if every row counts once

  /// Returns the rows with these indices [k] int64, with their weights.
  RowTensors subset(const at::Tensor& indices) const;
  RowTensors on(at::Device device) const;  // the same rows on this device
};

/// Returns the inputs and the targets of all rows in `type`; both are undefined for a dataset without rows.
/// The rows must have passed training_rows or validation_rows, and must have a target.
RowTensors tensors_of(const Dataset& rows, at::ScalarType type);

/// Throws std::invalid_argument unless the catalogue says that the method takes this task. The message lists
/// the methods that do.
void check_task(const Task& task, std::string_view method);

/// Returns a plan that puts texts of similar length into one batch, so that little of a batch is padding.
/// Rows with weights are drawn in proportion to them (plan_of_weights), so that no loss needs to know a
/// weight. In segmentation without a batch size the batches are equal parts of at most 8 images. Otherwise
/// returns an empty plan: the trainer then cuts a permutation of the rows into batches.
BatchPlan batch_plan(const Dataset& data, const TrainingOptions& options);

/// Returns the targets of all rows. Gathers them batch by batch, because the inputs of all rows may not fit
/// in memory. On the CPU, where answers are scored. Undefined if there are no rows or the rows have no
/// targets. [n]; of segmentation [n, h w]
at::Tensor targets_of(const Dataset& data);

/// Returns the sum of the weights of the rows, which is their number if each counts once; of segmentation the
/// number of pixels that are not void. It is the n by which a KL term is divided.
double labelled_rows(const Dataset& data);

/// Returns the mean of `loss` over all rows by their weights. There must be at least one row. `loss` returns
/// the loss of each row of a batch [b]; of segmentation that of each labelled pixel. It is called batch by
/// batch, in float32 and without gradients. `ranks` share the rows (FitContext::ranks); nullptr: this process
/// has all.
double mean_over_rows(const Dataset& data,
                      const std::function<at::Tensor(const Input& input, const at::Tensor& y)>& loss,
                      const Collective* ranks = nullptr);

/// Returns the mean NLL of the answers that `answer` gives to these rows by their weights. There must be at
/// least one row. Each term is multiplied by the weight of its class if `class_weights` [C] is defined. Void
/// pixels are left out.
/// The images of a segmentation are answered in blocks, so that the answers of all their pixels are never in
/// memory together. Returns nullopt as mean_nll() (answers/answers.h).
std::optional<double> nll_of_answers(const Dataset& rows,
                                     const std::function<Predictive(const Dataset& block)>& answer,
                                     const at::Tensor& class_weights = {});

/// The number of images of a segmentation that are answered at once: their pixels are the rows of one answer.
inline constexpr int64_t kImagesAtOnce = 8;

/// Calls `each` on consecutive batches, without gradients unless `options` asks for them. A batch is on
/// options.device if that is not the CPU, else where the dataset has it. A batch has at most
/// options.batch rows, fewer if the rows are large. An empty dataset gives one empty batch. After each batch
/// calls options.progress with the share of the rows so far.
void over_batches(const Dataset& data, const PredictOptions& options,
                  const std::function<void(const Batch& batch)>& each);

/// Applies `answer` to the rows batch by batch, with inputs in `type`, and joins the answers row after row.
/// Inputs are on options.device; answers must be on the CPU.
/// An empty dataset gives an empty answer. Messages begin with `function`. Throws std::invalid_argument for
/// rows whose shape is not `input`, or numbers that are not finite.
Predictive predict_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                        const PredictOptions& options, std::string_view function,
                        const std::function<Predictive(const Input& input)>& answer);

/// Returns one answer for each of several batches. It may call `progress`, which may be empty, with the share
/// of this work that is done, in (0, 1].
using AnswerGroup = std::function<std::vector<Predictive>(const std::vector<Input>& batches,
                                                          const std::function<void(double)>& progress)>;

/// Works as predict_rows, but `answers` gets up to 16 batches in one call and returns one answer for each.
/// Use it where something costly, such as a draw of all weights, serves many batches.
Predictive predict_groups(const Dataset& data, const Shape& input, at::ScalarType type,
                          const PredictOptions& options, std::string_view function,
                          const AnswerGroup& answers);

/// Works as predict_rows, but `answer` returns the mean and variance of the k latent functions at the rows of
/// a batch, [b, k] each. Returns those of all rows, [n, k] each.
Latent latent_rows(const Dataset& data, const Shape& input, at::ScalarType type,
                   const PredictOptions& options, std::string_view function,
                   const std::function<Latent(const Input& input)>& answer);

}  // namespace slimbayes
