#pragma once

#include <cstdint>
#include <functional>

#include "slimbayes/export.h"

namespace slimbayes {

/// Returns how many cores this process may use: those of its affinity mask (taskset), no more than the
/// environment variable OMP_NUM_THREADS says.
SLIMBAYES_EXPORT int available_cores();

/// Throws std::invalid_argument if the limits of this process's user (ulimit -u) or control group (pids.max)
/// leave fewer threads than a computation with `threads` threads needs (threads_at_hand in storage/memory.h):
/// OpenMP ends the process where it cannot start one. One thread is always allowed.
SLIMBAYES_EXPORT void check_threads(int threads);

/// Runs job(0) to job(count - 1) on the threads of the tensor library, several at the same time, in any
/// order. Throws what a job throws.
SLIMBAYES_EXPORT void on_library_threads(int64_t count, const std::function<void(int64_t)>& job);

/// Runs job(first, last) for consecutive parts of 0 to n, of `grain` elements each, as on_library_threads.
SLIMBAYES_EXPORT void over_range(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& job);

/// Sets the number of threads of the tensor library while an object of this class lives; the destructor
/// restores the earlier number. 0 leaves the number unchanged. The number belongs to the whole process: if
/// two threads hold a ThreadScope at once, the number set last applies to both. Throws std::invalid_argument
/// for a number that RunOptions::threads (catalog/call_options.h) does not allow, and as check_threads.
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
