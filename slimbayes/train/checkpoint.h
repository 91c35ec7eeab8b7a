#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/train/adamw.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// The state of a training between two steps, except for the parameters and the optimiser's moments, which
/// save_checkpoint takes from the problem and the optimiser. This state, the parameters and the moments
/// together determine all later steps, because batches depend only on the stream and the epoch's number.
struct TrainState {
  int64_t step = 0;                // steps done
  double loss = 0;                 // sum of the losses since the last validation, for reports
  std::vector<double> since_best;  // validation scores of the rounds after the best one
  std::vector<double> scores;      // scores of all validations that count (select_from), for the schedule
  double seconds = 0;              // training time before this run; in a file, of all runs so far
  Summary summary;
  std::vector<at::Tensor> best;  // changing_tensors() at the best score; empty without a finite score so far
};

/// The sum of the losses since a validation. Those that a device computes are added up there, and read when
/// value() is called.
class LossSum {
 public:
  explicit LossSum(double sum = 0) : sum_(sum) {}
  void add(const StepLoss& loss);
  /// Makes the sum NaN if `x`, one number on a device, is not finite.
  void watch(const at::Tensor& x);

  bool pending() const { return pending_.defined(); }  // whether value() waits for a device
  double value();

 private:
  at::Tensor& on_device_of(const at::Tensor& x);
  double sum_;
  at::Tensor pending_;  // the sum as a scalar float64 on the device; undefined if sum_ is it
};

// Keys of a fingerprint, of which a refusal says how they differ.
inline constexpr const char* kRowsKey = "number of rows";
inline constexpr const char* kColumnsKey = "columns";
inline constexpr const char* kTargetKey = "target";    // the name of the target that was fitted
inline constexpr const char* kTargetsKey = "targets";  // the names of all, of a fit of several targets

/// Throws std::invalid_argument if a file's fingerprint `found` differs from the fingerprint `own` of this
/// fit. The message says that `what` was expected, such as "the checkpoint 'm.ckpt' of this fit", and ends
/// with `hint`. If both fingerprints are JSON objects, it names the targets of both where these differ;
/// otherwise the keys that differ, and of the data what is known of the difference.
void check_fingerprint(const std::string& found, const std::string& own, const std::string& what,
                       const std::string& hint);

/// remove_checkpoint removes the checkpoint at `path` and the checkpoints of its parts: the files `path`.<i>
/// of a series of fits (jobs.h). remove_parts removes only the parts. Neither reports an error:
/// directories and files that cannot be removed stay.
void remove_checkpoint(const std::filesystem::path& path);
void remove_parts(const std::filesystem::path& path);

/// Returns whether parameters and moments are finite, as load_checkpoint asks. If others lead to a loss that
/// is not finite, the next step throws.
bool can_be_saved(const TrainProblem& problem, const AdamW& optimiser);

/// Writes parameters, optimiser and state atomically to policy.path. Throws DataError if the file cannot be
/// written.
void save_checkpoint(const CheckpointPolicy& policy, const TrainProblem& problem, const AdamW& optimiser,
                     const TrainState& state);

/// Writes the checkpoints of a training: after CheckpointPolicy::every_seconds, or later if writing one is
/// slow, so that it takes at most a twentieth of the time. Policy, problem and optimiser must outlive it.
class CheckpointWriter {
 public:
  using Clock = std::chrono::steady_clock;

  CheckpointWriter(const CheckpointPolicy& policy, const TrainProblem& problem, const AdamW& optimiser);

  bool writes() const;  // whether there are checkpoints, and this process writes them
  bool due() const { return writes() && Clock::now() >= next_; }

  /// Writes a checkpoint if can_be_saved(), and returns whether it did. If the file cannot be written (for
  /// example, the disk is full), the callback gets a note and the fit goes on: a later attempt may succeed.
  bool write(TrainState state, Callback* callback);

 private:
  const CheckpointPolicy& policy_;
  const TrainProblem& problem_;
  const AdamW& optimiser_;
  Clock::duration every_;
  Clock::time_point next_;
};

/// Restores the parameters of `problem` and the optimiser in place from the file policy.path, which rank 0 of
/// TrainProblem::ranks reads for all, and returns the rest of the state. Returns nothing if there is no file
/// or policy.resume is false. Throws std::invalid_argument if the file belongs to another fit. Throws
/// DataError if the file is damaged or cannot come from a fit of this problem over `steps` steps. If it
/// throws, problem and optimiser are unchanged.
std::optional<TrainState> load_checkpoint(const CheckpointPolicy& policy, TrainProblem& problem,
                                          AdamW& optimiser, int64_t steps, int64_t steps_per_epoch);

}  // namespace slimbayes
