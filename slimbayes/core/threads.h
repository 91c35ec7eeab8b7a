#pragma once

#include "slimbayes/export.h"

namespace slimbayes {

/// Returns how many cores this process may use: those of its affinity mask (taskset), no more than the
/// environment variable OMP_NUM_THREADS says.
SLIMBAYES_EXPORT int available_cores();

/// Sets the number of threads of the tensor library while an object of this class lives; the destructor
/// restores the earlier number. 0 leaves the number unchanged. The number belongs to the whole process: if
/// two threads hold a ThreadScope at once, the number set last applies to both. Where the system refuses a
/// thread (ulimit -u), OpenMP ends the process with a message of its own. Throws std::invalid_argument for a
/// number that RunOptions::threads (catalog/call_options.h) does not allow.
class ThreadScope {
 public:
  SLIMBAYES_EXPORT explicit ThreadScope(int threads);
  SLIMBAYES_EXPORT ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;  // number of threads before the constructor
};

}  // namespace slimbayes
