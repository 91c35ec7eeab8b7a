// The only place of the library that sets how the processor treats denormal numbers (tests/house/house.py
// names this file). The setting belongs to a thread, so each thread of the tensor library sets its own.
#include "slimbayes/core/denormals.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <limits>

namespace slimbayes {

namespace {

// Returns whether this thread treats denormal numbers as zero. ATen can set this but not report it.
bool flushes() {
  volatile float least = std::numeric_limits<float>::min();  // volatile: divided when the program runs
  return least / 2 == 0;
}

// Sets it in every thread of the tensor library. at::parallel_for is inlined and would run in a single thread
// if this file is compiled without OpenMP. A tensor iterator runs inside the library and starts its threads;
// it gets one element for each of them.
void flush_everywhere(bool on) {
  at::globalContext().setFlushDenormal(on);
  at::Tensor each = at::empty({at::get_num_threads()}, at::kByte);
  at::TensorIterator::nullary_op(each).for_each(
      [on](char**, const int64_t*, int64_t, int64_t) { at::globalContext().setFlushDenormal(on); },
      /*grain_size=*/1);
}

}  // namespace

FlushDenormals::FlushDenormals() : before_(flushes()) {
  if (!before_) flush_everywhere(true);
}

FlushDenormals::~FlushDenormals() {
  if (!before_) flush_everywhere(false);
}

}  // namespace slimbayes
