#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/train/adamw.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"
#include "slimbayes/train/trainer.h"

namespace slimbayes {

/// Everything that a fit carries from one step to the next. With the options and the stream it determines all
/// that follows, since batches depend on the epoch's number alone.
struct TrainState {
  int64_t step = 0;  // steps done
  double loss = 0;   // sum over the steps since the last validation, for reports
  std::vector<double> since_best;  // validation scores of the rounds since the best one
  double seconds = 0;  // of earlier runs
  Summary summary;
  std::vector<at::Tensor> best;  // changing_tensors() at the best score; empty before the first round
};

/// Throws std::invalid_argument when a fit's fingerprint is not the one found in `what`; of JSON objects it
/// names the keys that differ.
void check_fingerprint(const std::string& found, const std::string& own, const std::string& what,
                       const std::string& hint);

/// remove_checkpoint removes a checkpoint and the checkpoints of its parts (`path`.<i>, fit_series.h);
/// remove_parts removes only the parts. Directories, and files that cannot be removed, are left; no error.
void remove_checkpoint(const std::filesystem::path& path);
void remove_parts(const std::filesystem::path& path);

/// Writes parameters, optimiser and state atomically to policy.path. Throws DataError.
void save_checkpoint(const CheckpointPolicy& policy, const TrainProblem& problem, const AdamW& optimiser,
                     const TrainState& state);

/// Restores them in place and returns the state; nothing when there is no file or no wish to resume. Throws
/// std::invalid_argument when the file belongs to another fit, DataError when it is damaged or holds what no
/// fit of this problem over `steps` steps can have left; then neither problem nor optimiser is changed.
std::optional<TrainState> load_checkpoint(const CheckpointPolicy& policy, TrainProblem& problem,
                                          AdamW& optimiser, int64_t steps, int64_t steps_per_epoch);

}  // namespace slimbayes
