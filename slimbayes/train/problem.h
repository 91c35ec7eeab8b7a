#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/source.h"
#include "slimbayes/export.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Parameters that share a learning rate and a weight decay, as one flat buffer with its gradient.
struct ParameterGroup {
  std::string name;
  at::Tensor value;             // [p] contiguous
  at::Tensor grad;              // [p]; the trainer zeroes it before each step, and GradientStep fills it
  double learning_rate = 1e-3;  // peak rate of the schedule
  double weight_decay = 0;      // decoupled from the gradient, as in AdamW
};

/// The position of a step in the fit, and its random numbers.
struct StepContext {
  int64_t step;       // number of this step, from 0
  int64_t steps;      // budget: steps of the whole fit
  int64_t epoch = 0;  // number of this epoch, from 0
  Stream stream{0};   // random numbers of this step, such as dropout's
  /// The share of the batch's rows that this process has; 1 unless ranks share it (TrainProblem::ranks).
  double share = 1;
  /// Returns a tensor summed over the ranks that share the rows, with its gradient (total_over_ranks in
  /// shared_step.h): for the statistics of batch norms. Empty: the batch is whole, or the ranks take steps by
  /// themselves.
  std::function<at::Tensor(const at::Tensor& x)> total = {};
};

/// The batches of an epoch, each as row indices [b] int64.
class EpochBatches {
 public:
  EpochBatches() = default;
  SLIMBAYES_EXPORT EpochBatches(std::vector<at::Tensor> all);  // NOLINT(google-explicit-constructor)
  /// `make` returns a batch by its number when it is asked for, so that not all indices of a large table need
  /// be in memory.
  SLIMBAYES_EXPORT EpochBatches(int64_t size, std::function<at::Tensor(int64_t i)> make);

  int64_t size() const { return size_; }
  at::Tensor operator[](int64_t i) const { return make_(i); }

 private:
  int64_t size_ = 0;
  std::function<at::Tensor(int64_t i)> make_;
};

/// What TrainProblem::before_epoch is told about the epoch that begins.
struct EpochContext {
  int64_t epoch, epochs;  // number of this epoch, from 0; epochs of the fit
  const EpochBatches& batches;
};

/// The loss of a step: a number, or a tensor of one number that a device may still be computing. The trainer
/// reads such tensors once a round, so that no step waits for the device.
class SLIMBAYES_EXPORT StepLoss {
 public:
  StepLoss(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// `loss` holds one number. On the CPU it is read here.
  StepLoss(const at::Tensor& loss);  // NOLINT(google-explicit-constructor)

  double value() const;  // waits for the device
  /// Returns the loss as a tensor on its device, without a graph; undefined for a number that is known here.
  const at::Tensor& pending() const { return pending_; }

 private:
  double value_ = 0;
  at::Tensor pending_;
};

/// Fills the groups' gradients from a batch and returns the loss. The gradient may come from any algorithm,
/// such as a mini-batch, two-pass or sharpness-aware step. Without TrainProblem::source the batch is empty.
using GradientStep = std::function<StepLoss(const Batch& batch, const StepContext&)>;

/// Returns the batches of an epoch. The result must depend only on `stream`, the random numbers of the epoch.
using BatchPlan = std::function<EpochBatches(const Stream& stream)>;

/// A training problem as the trainer sees it: flat buffers, a gradient step and a validation score. The
/// trainer does not know layers or likelihoods.
struct TrainProblem {
  std::vector<ParameterGroup> groups;  // on one device
  /// Tensors outside the groups that steps change, such as running averages. They are saved and restored with
  /// the best parameters.
  std::vector<at::Tensor> buffers = {};
  /// Those of `buffers` that the rows of a batch change, such as running averages of batch normalisation.
  std::vector<at::Tensor> batch_buffers = {};
  /// The processes that train this problem together, on the CPU; not owned; nullptr: this process alone.
  const Collective* ranks = nullptr;
  /// Whether the loss is a mean over the rows of a batch, plus terms that no row enters. Ranks then share the
  /// rows of every batch. Otherwise each of them takes all rows: correct, but no faster.
  bool mean_of_rows = false;
  /// A radius above 0 makes the steps sharpness-aware in the groups of these names (sharpness_aware()).
  double sharpness = 0;
  std::vector<std::string> sharp_groups = {};
  /// The source of the batches; nullptr if the method reads its rows itself.
  std::shared_ptr<const Source> source = {};
  int64_t rows = 0;  // number of training rows
  /// Returns the batches of an epoch, the same number in every epoch. Empty: a permutation of the rows, cut
  /// into batches of nearly equal size.
  BatchPlan plan = {};
  /// Called before the first step of every epoch, and again when a fit resumes within an epoch. It may set
  /// values that the epoch's steps read, such as the number of batches in which a token occurs. These must
  /// depend only on the context. If empty, nothing is called.
  std::function<void(const EpochContext& context)> before_epoch = {};
  GradientStep step;
  /// Called after the last step of every epoch with that step's context, before the validation. It may change
  /// groups and buffers, for example update an average of the weights. If empty, nothing is called.
  std::function<void(const StepContext& last)> after_epoch = {};
  /// Returns the validation score; lower is better. If empty, nothing is validated and the last parameters
  /// are kept.
  std::function<double()> validate;
  /// The number of epochs that must be done before a validation counts. An earlier validation neither chooses
  /// the parameters nor counts towards patience. Use it if the objective changes during training, for example
  /// while a KL term is warmed up: then only parameters of the final objective are chosen.
  int64_t select_from = 0;
  std::string trained_by = "libtorch";  // what computes the passes: "engine" or "libtorch" (Summary)
  std::string score = "standardised validation NLL";  // the name of what validate() returns (Summary::score)
};

/// Returns the tensors that steps change, as views: the values of each group, then the buffers. Checkpoints
/// and the best parameters are copies of them.
SLIMBAYES_EXPORT std::vector<at::Tensor> changing_tensors(const TrainProblem& problem);

/// Returns where the parameters of the groups are.
inline at::Device device_of(const TrainProblem& problem) {
  return problem.groups.empty() ? at::Device(at::kCPU) : problem.groups[0].value.device();
}

}  // namespace slimbayes
