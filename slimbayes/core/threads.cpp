// This is the only file that may set the number of threads; tests/house/house.py enforces it. The number
// belongs to the process, so it is restored, and callers of the library find their own number unchanged.
#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns how many of `wanted` threads the system allows at once, including this one.
int started_threads(int wanted) {
  std::latch asked{1};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(wanted));
  try {
    while (std::ssize(threads) + 1 < wanted)
      threads.emplace_back([&] {
        void* volatile own = std::malloc(1);  // a thread that takes memory gets an arena of address space
        asked.wait();
        std::free(own);
      });
  } catch (const std::system_error&) {  // the limit on processes or on address space is reached
  }
  asked.count_down();
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

}  // namespace

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

// Twice the wanted number is tried: libtorch has a second pool of the same size, and one more thread reads
// tables. Where the system refuses so many, half of its limit stays for the computation.
int granted_threads(int wanted) {
  if (wanted <= 1) return wanted;
  const int started = started_threads(2 * wanted);
  return started >= 2 * wanted ? wanted : std::max(started / 4, 1);
}

std::string granted_note(int granted, int wanted) {
  return fmt::format("the system grants {} of {} threads (ulimit -u, ulimit -v): computing with {}", granted,
                     wanted, granted);
}

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()), granted_(threads) {
  check_options(RunOptions{.threads = threads}, "fit");
  if (!(threads >= 0))
    refuse("ThreadScope", "a number of threads, 0 to leave it as it is", std::to_string(threads));
  if (threads > before_) granted_ = std::max(granted_threads(threads), before_);
  if (threads > 0) at::set_num_threads(granted_);
  // Starts the threads before other code takes memory that they need.
  if (threads > before_) at::parallel_for(0, granted_, 1, [](int64_t, int64_t) {});
}

ThreadScope::~ThreadScope() {
  if (at::get_num_threads() != before_) at::set_num_threads(before_);
}

}  // namespace slimbayes
