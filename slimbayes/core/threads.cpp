// This is the only file that may set the number of threads; tests/house/house.py enforces it. The number
// belongs to the process, so it is restored, and callers of the library find their own number unchanged.
#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

int available_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int cores = sched_getaffinity(0, sizeof mask, &mask) == 0
                  ? CPU_COUNT(&mask)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const char* asked = std::getenv("OMP_NUM_THREADS"))
    if (const int limit = std::atoi(asked); limit > 0) cores = std::min(cores, limit);
  return std::max(cores, 1);
}

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()) {
  check_options(RunOptions{.threads = threads}, "fit");
  if (!(threads >= 0))
    refuse("ThreadScope", "a number of threads, 0 to leave it as it is", std::to_string(threads));
  if (threads > 0) at::set_num_threads(threads);
  // Starts the threads before other code takes memory that they need.
  if (threads > before_) at::parallel_for(0, threads, 1, [](int64_t, int64_t) {});
}

ThreadScope::~ThreadScope() {
  if (at::get_num_threads() != before_) at::set_num_threads(before_);
}

}  // namespace slimbayes
