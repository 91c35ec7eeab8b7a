// This is the only file that may set the number of threads; tests/house/house.py enforces it. The number
// belongs to the process, so it is restored, and callers of the library find their own number unchanged.
#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "slimbayes/catalog/call_options.h"
#include "slimbayes/core/check.h"
#include "slimbayes/storage/memory.h"

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

void check_threads(int threads) {
  if (threads < 2) return;
  // Measured: a fit with n > 1 threads needs 2 n. at::set_num_threads starts n - 1 for a pool beside that of
  // OpenMP, and Arrow's allocator has one.
  const uint64_t most = std::max<uint64_t>(threads_at_hand() / 2, 1);
  if (std::cmp_greater(threads, most))
    refuse("fit", fmt::format("at most {} threads, which the limits of this user and machine leave", most),
           std::to_string(threads),
           "lower `.threads`, or raise the limit (ulimit -u; in a container, its number of processes)");
}

// at::parallel_for is inlined: in a file that is compiled without OpenMP, as all of ours, it runs in a single
// thread. A tensor iterator runs inside the library; it gets one element for each job.
void on_library_threads(int64_t count, const std::function<void(int64_t)>& job) {
  if (count <= 1) {
    if (count == 1) job(0);
    return;
  }
  at::Tensor each = at::empty({count}, at::kByte);
  const char* first = static_cast<const char*>(each.const_data_ptr());
  at::TensorIterator::nullary_op(each).for_each(
      [&](char** data, const int64_t* strides, int64_t size, int64_t) {
        for (int64_t i = 0; i < size; ++i) job(data[0] + i * strides[0] - first);
      },
      /*grain_size=*/1);
}

void over_range(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& job) {
  on_library_threads((n + grain - 1) / grain,
                     [&](int64_t k) { job(k * grain, std::min(n, (k + 1) * grain)); });
}

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()) {
  check_options(RunOptions{.threads = threads}, "fit");
  if (!(threads >= 0))
    refuse("ThreadScope", "a number of threads, 0 to leave it as it is", std::to_string(threads));
  check_threads(threads);
  if (threads > 0) at::set_num_threads(threads);
  // Starts the threads before other code takes memory that they need.
  if (threads > before_) on_library_threads(threads, [](int64_t) {});
}

ThreadScope::~ThreadScope() {
  if (at::get_num_threads() != before_) at::set_num_threads(before_);
}

}  // namespace slimbayes
