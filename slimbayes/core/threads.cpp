// This is the only file that may set the number of threads; tests/house/house.py enforces it. The number
// belongs to the process, so it is restored, and callers of the library find their own number unchanged.
#include "slimbayes/core/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

ThreadScope::ThreadScope(int threads) : before_(at::get_num_threads()) {
  check(threads >= 0, "ThreadScope", "a number of threads, 0 to leave it as it is", std::to_string(threads));
  if (threads > 0) at::set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (at::get_num_threads() != before_) at::set_num_threads(before_);
}

}  // namespace slimbayes
