#pragma once

#include <cstdint>
#include <string>

namespace slimbayes {

/// The state of a fit, reported after every validation and once a second in between.
struct Progress {
  int64_t step, steps;
  int64_t epoch, epochs;
  double loss;         // mean training loss since the last validation
  double score, best;  // validation scores; NaN before the first and without validation rows
  double steps_per_second;
  double seconds, seconds_left;
};

/// How a caller watches and stops a fit. The default watches nothing.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual void report(const Progress&) {}
  /// Called before each part of a fit that consists of several (ensemble members, tuning candidates, noise
  /// folds). The argument names the part, such as "2/5" or "fold 2/5".
  virtual void stage(const std::string&) {}
  /// Called with one sentence for the log: before training, about the data; after each tuning candidate, with
  /// its score or failure; and whenever a checkpoint cannot be written.
  virtual void note(const std::string&) {}
  /// Asked before every step: true ends the fit and keeps the best so far.
  virtual bool stop() { return false; }
};

}  // namespace slimbayes
