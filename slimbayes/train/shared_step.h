#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// How the ranks of a training agree on whether it is to end: an interrupt counts on every rank, the time on
/// rank 0 alone, whose clock decides.
class AgreedEnd {
 public:
  /// `asked` returns why this process wants the training to end, Stopped::budget if it does not. Without
  /// ranks (nullptr) that decides. `in_steps`: the ranks' steps carry message() and tell their sum.
  AgreedEnd(const Collective* ranks, bool in_steps, std::function<Stopped()> asked)
      : ranks_(ranks), in_steps_(in_steps), asked_(std::move(asked)) {}

  /// Returns what asked() says as a number of which all ranks get the sum.
  int64_t message() const;
  /// Keeps what the sum of the messages of a step means.
  void tell(int64_t sum);
  /// Returns why the training is to end: what the last step told, if the steps tell it; else asks all ranks.
  Stopped operator()() const;

 private:
  const Collective* ranks_;
  bool in_steps_;
  std::function<Stopped()> asked_;
  std::optional<Stopped> told_ = {};  // nothing before the first step of this process
};

/// Sums tensors over ranks in one message, and with them a loss and a number.
class RankSum {
 public:
  /// The tensors must have one type. They and the ranks must outlive this object.
  RankSum(const Collective& ranks, std::vector<at::Tensor> tensors);

  /// Replaces the tensors and `loss` by the sums over all ranks of `weight` times their own. Returns the sum
  /// of the numbers `own`.
  int64_t operator()(double weight, double& loss, int64_t own) const;

 private:
  const Collective& ranks_;
  std::vector<at::Tensor> tensors_, places_;  // the places are views of flat_
  at::Tensor flat_, rest_;                    // the tensors' numbers, then the loss and the number
};

/// Returns the rows of a batch that belong to this rank, and changes `context` to that of a step over them:
/// the share, and random numbers that differ between ranks. A batch of fewer rows than ranks (than twice so
/// many, if batches are normalised) is taken whole by each rank.
Batch batch_of_share(const TrainProblem& problem, const at::Tensor& rows, const Stream& augmentation,
                     StepContext& context);

/// Returns x summed over the ranks, where each of them takes the gradient of the mean over its share of a
/// batch's rows. The gradient of x is such that the sum of the ranks' gradients, each times its share, is the
/// gradient of the mean over the batch. All ranks call it in the same order, and differentiate its result.
at::Tensor total_over_ranks(const at::Tensor& x, const Collective& ranks, double share);

/// Returns the step of a problem whose ranks share the rows of every batch: each rank takes the gradient of
/// its share, and all get the gradient of the whole batch, in one sum over the ranks. A share counts by its
/// number of rows (StepContext::share). The buffers `batch_buffers` are averaged in the same way.
///
/// `asked` is called in each step; `told` gets the sum of the numbers that it returned on all ranks. So all
/// ranks learn in the same step that the fit is to end, at no further message. A NumericalError of one rank
/// becomes a loss of NaN on all, so that no rank waits for another one that has failed. The problem must
/// outlive the result.
GradientStep shared_step(const TrainProblem& problem, std::function<int64_t()> asked,
                         std::function<void(int64_t)> told);

}  // namespace slimbayes
