#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

/// Numbers at an address that is a multiple of 64 bytes. Not initialised.
template <class Number>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t count) { reserve(count); }

  /// Makes room for at least `count` numbers; loses the values when it grows. Throws std::bad_alloc, and is
  /// then empty.
  void reserve(int64_t count) {
    if (count <= size_) return;
    if (count > kMost) throw std::bad_alloc();
    size_ = 0;  // also if the allocation below fails
    const auto bytes = static_cast<size_t>(kernels::padded(count)) * sizeof(Number);
    data_.reset(static_cast<Number*>(std::aligned_alloc(64, bytes)));
    if (!data_) throw std::bad_alloc();
    size_ = count;
  }
  Number* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(Number* numbers) const { std::free(numbers); }
  };
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2 / sizeof(Number);
  std::unique_ptr<Number[], Free> data_;
  int64_t size_ = 0;
};

using Floats = Buffer<float>;
using Doubles = Buffer<double>;

}  // namespace slimbayes::engine
