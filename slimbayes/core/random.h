#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "slimbayes/export.h"

namespace slimbayes {

/// A stream of random numbers from a counter-based generator (Philox4x32-10 of the library Random123). A
/// stream is a value without hidden state: its i-th number is a pure function of its key and i. Streams can
/// therefore be split, skipped and replayed in any order and on any machine, with the same numbers.
class SLIMBAYES_EXPORT Stream {
 public:
  explicit Stream(uint64_t seed);

  /// Returns a stream whose numbers are independent of those of this stream and of its other splits. Give
  /// each purpose ("weights", "epoch") or each index its own stream. Equal arguments give equal streams.
  Stream split(std::string_view purpose) const;
  Stream split(uint64_t index) const;

  uint64_t bits(uint64_t i) const;   // the i-th number as 64 random bits
  double uniform(uint64_t i) const;  // the i-th number, uniform in (0, 1)
  double normal(uint64_t i) const;   // the i-th number, N(0, 1) by Box-Muller

  /// Return a tensor of this shape filled with the numbers 0, 1, ... of the stream in row-major order:
  /// uniform in (0, 1), or standard normal. `options` say its type and device; every device gets the same
  /// numbers. Normal numbers in float64 are copied to a device; those in float32 it computes itself, in
  /// float64, so that they may differ from the CPU's in the last bit. Throw std::invalid_argument unless the
  /// type is float64 or float32.
  at::Tensor uniform(at::IntArrayRef shape, const at::TensorOptions& options = at::kDouble) const;
  at::Tensor normal(at::IntArrayRef shape, const at::TensorOptions& options = at::kDouble) const;
  // Overloads for a shape in braces: they make uniform({n}) mean a tensor of n numbers and not uniform(n),
  // the n-th number.
  at::Tensor uniform(std::initializer_list<int64_t> shape,
                     const at::TensorOptions& options = at::kDouble) const {
    return uniform(at::IntArrayRef(shape), options);
  }
  at::Tensor normal(std::initializer_list<int64_t> shape,
                    const at::TensorOptions& options = at::kDouble) const {
    return normal(at::IntArrayRef(shape), options);
  }
  /// Returns a float32 tensor of standard normal numbers, at a tenth of the cost of normal(). Number i is a
  /// pure function of the key and i here too, but not that of normal(). Numbers lie within +-5.9. Use it for
  /// draws of many weights. Another device than the CPU computes the numbers itself: the random bits are the
  /// same, and the normal numbers are those of its own log, cos and sin.
  at::Tensor normal_float32(at::IntArrayRef shape, at::Device device = at::kCPU) const;
  at::Tensor permutation(int64_t n) const;  // random permutation of 0 to n - 1, [n] int64, Fisher-Yates

 private:
  uint64_t key_;
};

}  // namespace slimbayes
