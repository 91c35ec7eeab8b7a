#include "slimbayes/train/trainer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/denormals.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/writable.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/train/adamw.h"
#include "slimbayes/train/checkpoint.h"
#include "slimbayes/train/early_stopping.h"
#include "slimbayes/train/failure.h"
#include "slimbayes/train/gradient_norm.h"
#include "slimbayes/train/plan.h"
#include "slimbayes/train/remaining.h"
#include "slimbayes/train/schedule.h"
#include "slimbayes/train/shared_step.h"
#include "slimbayes/train/sharpness_aware.h"
#include "slimbayes/train/steps_apart.h"
#include "slimbayes/train/training_plan.h"

// The training loop of all gradient-trained methods. An epoch is one seeded permutation of the rows, cut into
// batches (plan.h). Epochs are grouped into rounds (training_plan.h), and each round ends with a validation.
// With a budget in steps, a fit of 150 or more epochs has 150 to 299 rounds, so the default patience of 40
// rounds is an eighth to a quarter of the budget. A large table with fewer epochs has fewer rounds.

namespace slimbayes {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kReportEvery = std::chrono::seconds(1);
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// One fit in progress: its problem and options, and the state that checkpoints save.
class Run {
 public:
  Run(TrainProblem& problem, const TrainingOptions& options, const Stream& stream, Callback* callback,
      const CheckpointPolicy& checkpoint)
      : problem_(problem),
        options_(options),
        stream_(stream),
        callback_(callback),
        checkpoint_(checkpoint),
        device_(device_of(problem)),
        plan_(training_plan(options, problem.rows, problem.plan)),
        batches_(problem.plan ? problem.plan : plan_of_equal_batches(problem.rows, plan_.steps_per_epoch)),
        shares_(problem.ranks != nullptr && problem.mean_of_rows && problem.source != nullptr),
        end_(problem.ranks, shares_, [this] { return asked(); }),
        step_(step_of(problem)),
        optimiser_(problem.groups, options.beta2),
        start_(Clock::now()),
        saving_(checkpoint, problem, optimiser_),
        reported_(start_) {
    if (problem.ranks != nullptr && !device_.is_cpu())
      refuse("train", "the processor for a fit of several processes", "the device " + name_of(device_),
             "leave `.device` out");
    state_.summary.rows = problem.rows;
    state_.summary.best_score = kNan;
    if (shares_ && options.sync_every > 1)
      apart_.emplace(problem, optimiser_, options.sync_every, plan_.steps_per_epoch);
  }

  Summary run() {
    if (auto found = load_checkpoint(checkpoint_, problem_, optimiser_, plan_.steps, plan_.steps_per_epoch))
      state_ = std::move(*found);
    losses_ = LossSum(state_.loss);
    settled_ = state_.step;
    if (callback_ && state_.step > 0)
      callback_->note(fmt::format("resumed from step {} of {}", state_.step, plan_.steps));
    state_.summary.score = problem_.score;
    state_.summary.trained_by = problem_.trained_by;
    first_step_ = state_.step;
    while (state_.step < plan_.steps && !patience_spent()) {
      if (!round_or_failure()) break;
    }
    return finish();
  }

 private:
  /// Returns the training time in seconds, earlier runs included.
  double seconds() const {
    return state_.seconds + std::chrono::duration<double>(Clock::now() - start_).count();
  }

  /// Returns the problem's step; of ranks that share the rows of a batch, and sharpness-aware, where it is.
  GradientStep step_of(const TrainProblem& problem) {
    GradientStep step = problem.step;
    if (shares_ && options_.sync_every == 1)
      step = shared_step(
          problem, [this] { return end_.message(); }, [this](int64_t sum) { end_.tell(sum); });
    return problem.sharpness > 0 ? sharpness_aware(problem, std::move(step)) : step;
  }

  /// Returns why the fit is to end: the callback, or the time (the limit's or the caller's), ends it; else
  /// Stopped::budget.
  Stopped asked() {
    if (callback_ && callback_->stop()) return Stopped::interrupted;
    const bool over = options_.time_limit > 0 && seconds() > options_.time_limit;
    return over || (callback_ && callback_->late()) ? Stopped::time : Stopped::budget;
  }

  /// Returns whether something has ended the fit. If the callback did, saves a checkpoint.
  bool ended() {
    const Stopped why = state_.summary.stopped = end_();
    if (why == Stopped::budget) return false;
    settle();
    if (why == Stopped::interrupted) save();
    if (callback_ && problem_.ranks != nullptr) callback_->follow(why);
    return true;
  }

  /// Returns whether early stopping ends the fit. Depends only on the saved state, so that a resumed fit
  /// stops at the same step.
  bool patience_spent() {
    const bool spent = slimbayes::patience_spent(state_.since_best, options_.patience);
    if (spent) state_.summary.stopped = Stopped::patience;
    return spent;
  }

  /// Runs one round. Returns false if training must end. A numerical failure ends the training and keeps the
  /// best parameters so far; if there are none yet, it is rethrown.
  bool round_or_failure() {
    try {
      return round();
    } catch (const NumericalError& error) {
      if (state_.best.empty()) throw;
      state_.summary.stopped = Stopped::failure;
      state_.summary.notes.push_back(
          fmt::format("training ended early and the best parameters so far are kept: {}", error.what()));
      return false;
    } catch (const c10::OutOfMemoryError& error) {
      device_is_full(error);
    }
  }

  /// Throws OutOfMemory. If a step was in progress, takes back what it has changed and saves a checkpoint.
  [[noreturn]] void device_is_full(const c10::OutOfMemoryError& error) {
    bool saved = false;
    try {
      for (size_t i = 0; in_step_ && i < before_.size(); ++i) problem_.batch_buffers[i].copy_(before_[i]);
      saved = in_step_ && save();
    } catch (const NumericalError&) {
    } catch (const c10::OutOfMemoryError&) {
    }
    throw_device_is_full(error, device_, batch_, saved ? std::optional(state_.step) : std::nullopt);
  }

  /// Runs the steps up to the next validation, then validates. Returns false if the fit ended before that.
  bool round() {
    const int64_t steps = plan_.epochs_per_round * plan_.steps_per_epoch;
    const int64_t first = state_.step / steps * steps, last = std::min(plan_.steps, first + steps);
    EpochBatches batches;
    for (; state_.step < last; ++state_.step) {
      if (!apart_ || apart_->together(state_.step)) {
        if (ended()) return false;
        if (state_.step > first) between_validations(state_.step - first);
      }
      const int64_t epoch = state_.step / plan_.steps_per_epoch, i = state_.step % plan_.steps_per_epoch;
      const Stream own = stream_.split("epoch").split(epoch);
      if (i == 0 || batches.size() == 0) {
        batches = batches_of(own);
        if (problem_.before_epoch) problem_.before_epoch({epoch, plan_.epochs, batches});
      }
      const StepContext context{state_.step, plan_.steps, epoch,
                                own.split("step").split(static_cast<uint64_t>(state_.step))};
      step(batches[i], own.split("rows"), context);
      if (problem_.after_epoch && i + 1 == plan_.steps_per_epoch) problem_.after_epoch(context);
    }
    settle();
    score_ = validate(epochs_done() >= problem_.select_from);
    report(last - first);
    losses_ = LossSum();
    state_.loss = 0;
    patience_spent();
    if (saving_.due()) save();
    return true;
  }

  /// Saves and reports at intervals of time within a round, because a round may take hours.
  void between_validations(int64_t steps_done) {
    if (saving_.due()) save();
    const auto now = Clock::now();
    if (now - reported_ > kReportEvery) report(steps_done);
  }

  int64_t epochs_done() const { return state_.step / plan_.steps_per_epoch; }

  EpochBatches batches_of(const Stream& epoch) const {
    EpochBatches own = batches_(epoch);
    internal_check(own.size() == plan_.steps_per_epoch, "train", "a plan with another number of batches");
    return own;
  }

  /// Updates the parameters from one batch. Throws NumericalError if the loss is known and not finite; a loss
  /// that a device computes is checked by settle().
  void step(const at::Tensor& rows, const Stream& augmentation, StepContext context) {
    before_.clear();
    batch_ = rows.size(0);
    in_step_ = true;
    if (!device_.is_cpu()) before_ = copies_of(problem_.batch_buffers);
    optimiser_.zero_grad();
    const Batch batch = shares_           ? batch_of_share(problem_, rows, augmentation, context)
                        : problem_.source ? problem_.source->rows(rows, {true, augmentation})
                                          : Batch{};
    if (apart_) {
      context.total = {};
      losses_.add(step_apart(batch, context));
      return;
    }
    StepLoss loss = step_(batch, context);
    if (!loss.pending().defined()) {
      loss = shares_ ? loss.value() : of_rank_0(loss.value());
      check_loss(loss.value(), context.step);
    }
    update(context.step);
    losses_.add(loss);
  }

  void check_loss(double loss, int64_t step) const {
    if (!std::isfinite(loss)) throw_infinite_loss(loss, step, step, plan_.steps, options_.learning_rate);
  }

  /// Reads the losses since the last call, for which it waits where a device computes them. Throws
  /// NumericalError if one of them, or a gradient that was to be clipped, was not finite.
  void settle() {
    const bool unchecked = losses_.pending();
    state_.loss = losses_.value();
    const int64_t first = std::exchange(settled_, state_.step);
    if (unchecked && !std::isfinite(state_.loss))
      throw_infinite_loss(state_.loss, first, state_.step - 1, plan_.steps, options_.learning_rate);
  }

  void update(int64_t step) {
    if (options_.clip_norm > 0) {
      const at::Tensor norm = clip_gradients(problem_.groups, options_.clip_norm);
      if (norm.defined()) losses_.watch(norm);
    }
    batch_ = 0;
    in_step_ = false;  // from here on the step cannot be taken back
    optimiser_.step(schedule_factor(options_, step, plan_.steps, state_.scores));
  }

  /// Takes a step of this rank alone. Returns the losses since the ranks were together; 0 until they are
  /// again.
  double step_apart(const Batch& batch, const StepContext& context) {
    apart_->take(step_, batch, context, [&] { update(context.step); });
    if (!apart_->together(context.step + 1)) return 0;
    const auto [loss, sum] = apart_->join(end_.message());
    end_.tell(sum);
    check_loss(loss, context.step);
    return loss;
  }

  /// Returns the number that rank 0 has, if there are ranks: other processors may round in another way, and
  /// the decisions of all ranks must be one.
  double of_rank_0(double own) const {
    return problem_.ranks == nullptr ? own : broadcast_number(*problem_.ranks, own);
  }

  /// Returns the validation score; NaN without validation. Keeps a copy of the parameters if they
  /// `may_be_chosen` and the score is the best so far.
  double validate(bool may_be_chosen) {
    if (!problem_.validate) return kNan;
    const double score = of_rank_0(problem_.validate());
    if (!may_be_chosen) return score;
    state_.scores.push_back(score);
    Summary& summary = state_.summary;
    if (std::isfinite(score) && (std::isnan(summary.best_score) || score < summary.best_score)) {
      summary.best_score = score;
      summary.best_epoch = epochs_done();
      state_.since_best.clear();
      state_.best = copies_of(changing_tensors(problem_));
    } else {
      state_.since_best.push_back(score);
    }
    return score;
  }

  /// Reports progress to the callback. `steps` is the number of steps since the last validation.
  void report(int64_t steps) {
    reported_ = Clock::now();
    if (!callback_) return;
    settle();
    const double here = std::chrono::duration<double>(reported_ - start_).count();
    const double rate = static_cast<double>(state_.step - first_step_) / std::max(here, 1e-9);
    callback_->report({state_.step, plan_.steps, epochs_done(), plan_.epochs,
                       state_.loss / static_cast<double>(steps), score_, state_.summary.best_score, rate,
                       seconds(), std::ssize(state_.since_best),
                       remaining(standing(plan_, state_, problem_, options_, rate, seconds()))});
  }

  /// Writes a checkpoint and returns whether it is there.
  bool save() {
    if (!saving_.writes()) return false;
    settle();
    TrainState state = state_;
    state.seconds = seconds();
    return saving_.write(std::move(state), callback_);
  }

  /// Keeps the parameters of the last step, whose score and epoch the summary then has.
  void keep_last() {
    Summary& summary = state_.summary;
    const double best = summary.best_score;
    const int64_t epoch = summary.best_epoch;
    summary.best_score = of_rank_0(problem_.validate());
    summary.best_epoch = summary.epochs;
    if (!std::isfinite(summary.best_score))
      throw NumericalError(
          fmt::format("[train] expected a finite validation score of the last parameters; received {}; lower "
                      "the learning rate ({}), or keep the best parameters (`.select_by=score`)",
                      summary.best_score, options_.learning_rate));
    if (std::isfinite(best) && summary.best_score > best)
      summary.notes.push_back(
          fmt::format("the last parameters are kept (`.select_by=last`); the best {} was {:.4g}, in epoch {}",
                      summary.score, best, epoch));
  }

  /// Restores the best parameters, or keeps the last, and completes the summary. If there is no finite score
  /// yet because the time limit ended the fit before the first validation, validates now. An interrupted fit
  /// is not validated: without a score it does not replace an older model.
  Summary finish() {
    const bool unscored = state_.best.empty() && state_.summary.stopped != Stopped::interrupted;
    state_.summary.steps = state_.step;
    state_.summary.epochs = epochs_done();
    if (unscored && problem_.validate && !std::isfinite(validate(true)))
      throw NumericalError(
          "[train] expected a finite validation score; received none; look for extreme targets among the "
          "validation rows");
    const bool scored = !state_.best.empty() && state_.summary.stopped != Stopped::failure;
    if (options_.select_by == "last" && scored) {
      keep_last();
    } else {
      const std::vector<at::Tensor> own = changing_tensors(problem_);
      for (size_t i = 0; i < state_.best.size(); ++i) own[i].copy_(state_.best[i]);
    }
    // Ranks that took all rows of each batch may have rounded in other ways.
    if (problem_.ranks != nullptr && !shares_)
      for (const at::Tensor& x : changing_tensors(problem_)) problem_.ranks->broadcast(x);
    state_.summary.seconds = seconds();
    if (!problem_.validate)
      state_.summary.notes.emplace_back(
          "no validation examples: the last parameters are kept, and nothing stops early");
    return state_.summary;
  }

  TrainProblem& problem_;
  const TrainingOptions& options_;
  const Stream& stream_;
  Callback* callback_;
  const CheckpointPolicy& checkpoint_;
  at::Device device_;
  TrainingPlan plan_;
  BatchPlan batches_;
  bool shares_;  // the ranks share the rows of every batch
  AgreedEnd end_;
  GradientStep step_;
  AdamW optimiser_;
  TrainState state_;
  LossSum losses_;                  // TrainState::loss where it is known already
  int64_t settled_ = 0;             // step of the last settle()
  bool in_step_ = false;            // a step is in progress that can be taken back
  int64_t batch_ = 0;               // rows of its batch: 0 if the step reads its rows itself
  std::vector<at::Tensor> before_;  // on a device: batch_buffers before that step
  Clock::time_point start_;
  CheckpointWriter saving_;
  Clock::time_point reported_;
  int64_t first_step_ = 0;           // step at which this process started
  double score_ = kNan;              // score of the last validation in this process
  std::optional<StepsApart> apart_;  // with TrainingOptions::sync_every above 1
};

}  // namespace

Summary train(TrainProblem& problem, const TrainingOptions& options, const Stream& stream, Callback* callback,
              const CheckpointPolicy& checkpoint) {
  const FlushDenormals flush;
  const ReproducibleDevice reproducible(device_of(problem), [callback](const std::string& note) {
    if (callback) callback->note(note);
  });
  return Run(problem, options, stream, callback, checkpoint).run();
}

}  // namespace slimbayes
