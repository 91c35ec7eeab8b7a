#pragma once

#include <filesystem>
#include <string>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/core/random.h"
#include "slimbayes/export.h"
#include "slimbayes/train/callback.h"
#include "slimbayes/train/problem.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// Where and how often a fit saves its state. A fit that is killed and resumed gives the same model, bit for
/// bit, as a fit that ran through.
struct CheckpointPolicy {
  std::filesystem::path path;  // empty: no checkpoints
  bool resume = false;         // true: continue from the file at `path` if it exists
  std::string fingerprint;     // identifies the fit; a file with another fingerprint is refused
  /// Time between two checkpoints, in seconds; longer if writing one is slow. They are written between steps.
  double every_seconds = 2;
  /// The fingerprint of the training alone. It leaves out options that act only after the training
  /// (MethodInfo::after_training), so a training can resume after they have changed. Empty: same as
  /// `fingerprint`.
  std::string training = {};

  const std::string& of_training() const { return training.empty() ? fingerprint : training; }
};

/// Trains the groups of a problem with AdamW: seeded batches, learning-rate schedule, one validation per
/// round, early stopping, time limit, checkpoints. On return the groups and buffers hold the best parameters
/// (without validation or with TrainingOptions::select_by "last", the last ones). The same problem, options
/// and stream give the same bits, also after a kill and a resume.
///
/// The groups may be on a device. Steps then do not wait for the device: their losses are read, and a loss or
/// a norm to be clipped that is not finite is found, at the next validation, report or checkpoint.
/// Checkpoints are those of the CPU, and a fit may go on elsewhere, with other rounding. A device without
/// memory for a step ends the fit with OutOfMemory (data/table/limits.h), after a checkpoint.
///
/// A numerical failure, such as a loss that is not finite, ends the fit with the best parameters so far and a
/// note. Throws NumericalError if there are none yet, if no validation score was finite, or if that of last
/// parameters that are to be kept is not finite. If the callback stops the fit, it saves a checkpoint and
/// returns the best parameters so far; before the first validation Summary::best_score is NaN. If a
/// checkpoint cannot be written, the callback gets a note and the fit goes on. Throws std::invalid_argument
/// for no training rows, options out of range or ranks with groups on a device, and as load_checkpoint.
SLIMBAYES_EXPORT Summary train(TrainProblem& problem, const TrainingOptions& options, const Stream& stream,
                               Callback* callback, const CheckpointPolicy& checkpoint);

}  // namespace slimbayes
