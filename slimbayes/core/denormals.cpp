// This is the only file that may set how the processor treats denormal numbers; tests/house/house.py enforces
// it. The setting belongs to a thread, so it must be made in each thread of the tensor library.
#include "slimbayes/core/denormals.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <limits>

#include "slimbayes/core/threads.h"

namespace slimbayes {

namespace {

// Returns whether this thread treats denormal numbers as zero. ATen can change this setting but has no
// function that reports it, so a division with a denormal result tests it.
bool flushes() {
  volatile float least = std::numeric_limits<float>::min();  // volatile: the compiler must not divide
  return least / 2 == 0;
}

// Sets in every thread of the tensor library whether denormal numbers count as zero.
void flush_everywhere(bool on) {
  at::globalContext().setFlushDenormal(on);
  on_library_threads(at::get_num_threads(), [on](int64_t) { at::globalContext().setFlushDenormal(on); });
}

}  // namespace

FlushDenormals::FlushDenormals() : before_(flushes()) {
  if (!before_) flush_everywhere(true);
}

FlushDenormals::~FlushDenormals() {
  if (!before_) flush_everywhere(false);
}

}  // namespace slimbayes
