#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace slimbayes {

/// A counter-based stream of random numbers (Random123's Philox4x32-10). A stream is a value without hidden
/// state: its i-th number is a pure function of (key, i). So streams can be split, skipped and replayed in
/// any order, on any machine.
class Stream {
 public:
  explicit Stream(uint64_t seed);

  /// Returns an independent stream for a purpose ("weights", "epoch") or an index.
  Stream split(std::string_view purpose) const;
  Stream split(uint64_t index) const;

  uint64_t bits(uint64_t i) const;   // the i-th 64 bits of the stream
  double uniform(uint64_t i) const;  // the i-th number, uniform in (0, 1)
  double normal(uint64_t i) const;   // the i-th number, N(0, 1) by Box-Muller

  /// Returns a tensor of this shape filled with the numbers 0, 1, ... of the stream, in row-major order.
  /// Throws std::invalid_argument unless `type` is float64 or float32.
  at::Tensor uniform(at::IntArrayRef shape, at::ScalarType type = at::kDouble) const;
  at::Tensor normal(at::IntArrayRef shape, at::ScalarType type = at::kDouble) const;
  // These overloads make a braced shape, even {n}, mean a tensor and never the n-th number.
  at::Tensor uniform(std::initializer_list<int64_t> shape, at::ScalarType type = at::kDouble) const {
    return uniform(at::IntArrayRef(shape), type);
  }
  at::Tensor normal(std::initializer_list<int64_t> shape, at::ScalarType type = at::kDouble) const {
    return normal(at::IntArrayRef(shape), type);
  }
  at::Tensor permutation(int64_t n) const;  // random permutation of 0 to n - 1, [n] int64, Fisher-Yates

 private:
  uint64_t key_;
};

}  // namespace slimbayes
