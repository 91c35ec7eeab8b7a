#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "slimbayes/export.h"
#include "slimbayes/train/remaining.h"
#include "slimbayes/train/summary.h"

namespace slimbayes {

/// The progress of a fit, reported after every validation and at most once a second in between.
struct Progress {
  int64_t step, steps;    // steps done; steps of the whole budget
  int64_t epoch, epochs;  // epochs done; epochs of the whole budget
  double loss;            // mean training loss since the last validation
  double score, best;     // last and best validation score; NaN before the first and without validation rows
  double steps_per_second;
  double seconds;             // training time so far, earlier runs included
  int64_t rounds_since_best;  // validations since the best score
  Remaining left;             // estimated time to the end
};

/// Lets a caller watch and stop a fit. The default implementation does nothing. When train() calls
/// these functions, denormal numbers count as zero (FlushDenormals).
class SLIMBAYES_EXPORT Callback {
 public:
  virtual ~Callback() = default;
  virtual void report(const Progress&) {}
  /// Called before each part of a fit that has several parts (ensemble members, tuning candidates, the folds
  /// that estimate the noise). The argument names the part, such as "2/5" or "fold 2/5".
  virtual void stage(const std::string&) {}
  /// Called with one sentence for the log, for example about the data before training, about the score or
  /// failure of a tuning candidate, or about a checkpoint that cannot be written.
  virtual void note(const std::string&) {}
  /// Called before every training step and between the parts of a fit. Return true to end the fit; it keeps
  /// the best parameters so far.
  virtual bool stop() { return false; }
  /// Called at the same places as stop(). Return true once the time for the fit is over. The fit then ends as
  /// by its own time limit (Stopped::time): its model can answer.
  virtual bool late() { return false; }
  /// Returns the seconds until late(), below 0 after it; infinite without a limit. A part of a fit that may
  /// end early, such as a search, uses its share of these seconds.
  virtual double seconds_left() const { return std::numeric_limits<double>::infinity(); }
  /// Called in a fit by several processes, on every rank, where stop() of a rank or late() of rank 0 ends a
  /// training. After Stopped::interrupted stop() should return true on every rank.
  virtual void follow(Stopped) {}
};

/// Returns why the callback wants the fit to end: Stopped::interrupted or Stopped::time; nothing if the fit
/// goes on, and without a callback (nullptr).
inline std::optional<Stopped> asked_to_end(Callback* callback) {
  if (callback == nullptr) return {};
  if (callback->stop()) return Stopped::interrupted;
  return callback->late() ? std::optional(Stopped::time) : std::nullopt;
}

}  // namespace slimbayes
