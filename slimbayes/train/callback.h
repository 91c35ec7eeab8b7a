#pragma once

#include <cstdint>
#include <string>

namespace slimbayes {

/// Where a fit stands, reported after every validation and once a second between two.
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
  /// A fit made of several begins the next one, such as "member 2 of 5".
  virtual void stage(const std::string&) {}
  /// A sentence for the log: on the table before the training, on a fit between two.
  virtual void note(const std::string&) {}
  /// Asked before every step: true ends the fit and keeps the best so far.
  virtual bool stop() { return false; }
};

}  // namespace slimbayes
