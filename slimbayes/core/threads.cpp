// The only place of the library that sets the number of threads. It restores the earlier number, so that no
// caller finds the process changed (tests/house/house.py names this file).
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
