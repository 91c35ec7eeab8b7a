#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace slimbayes {

/// A counter-based stream of random numbers (Random123's Philox4x32-10): a value, no hidden state. The i-th
/// number of a stream is a pure function of (key, i), so streams can be split, skipped and replayed in any
/// order, on any machine.
class Stream {
 public:
  explicit Stream(uint64_t seed);

  /// An independent stream for a purpose ("weights", "epoch") or an index.
  Stream split(std::string_view purpose) const;
  Stream split(uint64_t index) const;

  uint64_t bits(uint64_t i) const;   // the i-th 64 bits
  double uniform(uint64_t i) const;  // in (0, 1)
  double normal(uint64_t i) const;   // N(0, 1), Box-Muller

  at::Tensor uniform(at::IntArrayRef shape,
                     at::ScalarType type = at::kDouble) const;  // elements 0, 1, ... of the stream
  at::Tensor normal(at::IntArrayRef shape, at::ScalarType type = at::kDouble) const;
  // A braced shape, {n} as well, means a tensor, never the n-th number.
  at::Tensor uniform(std::initializer_list<int64_t> shape, at::ScalarType type = at::kDouble) const {
    return uniform(at::IntArrayRef(shape), type);
  }
  at::Tensor normal(std::initializer_list<int64_t> shape, at::ScalarType type = at::kDouble) const {
    return normal(at::IntArrayRef(shape), type);
  }
  at::Tensor permutation(int64_t n) const;  // [n] int64, Fisher-Yates

 private:
  uint64_t key_;
};

}  // namespace slimbayes
