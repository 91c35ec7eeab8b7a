#pragma once

#include <string>

#include "slimbayes/export.h"

namespace slimbayes {

/// Returns how many cores this process may use: those of its affinity mask (taskset), no more than the
/// environment variable OMP_NUM_THREADS says.
SLIMBAYES_EXPORT int available_cores();

/// Returns with how many of `wanted` threads the tensor library can compute: the system may allow fewer
/// (ulimit -u, ulimit -v), and a library that cannot start a thread ends the process.
SLIMBAYES_EXPORT int granted_threads(int wanted);

/// Returns a note for a user who gets fewer threads than wanted.
SLIMBAYES_EXPORT std::string granted_note(int granted, int wanted);

/// Sets the number of threads of the tensor library while an object of this class lives; the destructor
/// restores the earlier number. 0 leaves the number unchanged. If the system grants fewer threads than asked,
/// these are set. The number belongs to the whole process: if two threads hold a ThreadScope at once, the
/// number set last applies to both. Throws std::invalid_argument for a number that RunOptions::threads
/// (catalog/call_options.h) does not allow.
class SLIMBAYES_EXPORT ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  /// Returns the number of threads that was asked for or, if the system allows fewer, that number.
  int granted() const { return granted_; }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;  // number of threads before the constructor
  int granted_;
};

}  // namespace slimbayes
