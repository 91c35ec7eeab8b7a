#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

// What the sources with the passes of a plan share (passes.cpp, lstm_passes.cpp).

/// Copies n numbers times `scale` to a padded row.
inline void copy_padded(const float* from, int64_t n, float scale, float* to) {
  if (scale == 1)
    std::copy_n(from, n, to);
  else
    std::transform(from, from + n, to, [scale](float x) { return scale * x; });
  std::fill(to + n, to + kernels::padded(n), 0.0F);
}

/// What the passes of all steps share.
struct Pass {
  const kernels::Kernels& k;
  const float* packed;
  int64_t rows;
  float* tape;
  bool keep;
  int64_t others;  // where the slots of the other steps of a sequence begin
  DropoutFactors factors = {};
  int64_t first = 0;

  float* at(const Slot& slot) const { return tape + slot.offset; }
  /// Returns the array of one step of a sequence.
  float* at(const StepSlots& slots, int64_t step) const {
    const bool first = step == 0 || !keep;
    return tape + (first ? slots.offset : others + slots.others + (step - 1) * kChunkRows * slots.ld());
  }
};

/// The state of a backward pass: the gradient of the last step's output, and memory for others.
struct Back {
  const Pass& pass;
  std::span<float* const> gradients;
  float* gradient;
  float* spare;
  float* held;   // the gradients of the shortcuts, one array for each depth
  int64_t slot;  // floats of an array

  float* of(size_t tensor) const { return gradients[tensor]; }
};

/// Computes the mean of the vectors of a row's tokens: tokens [s.in.width] to out [s.out.ld()].
template <class Number>
void mean_of_vectors(const TokenMeanStep& s, const Number* packed, const Number* tokens, Number* out) {
  const int64_t ld = s.out.ld();
  std::fill_n(out, ld, Number(0));
  int64_t count = 0;
  for (int64_t n = 0; n < s.in.width; ++n) {
    if (!(tokens[n] > 0)) continue;
    ++count;
    const auto token = static_cast<int64_t>(std::min(tokens[n], static_cast<Number>(s.tokens - 1)));
    const Number* vector = packed + s.packed_vectors + token * ld;
    for (int64_t j = 0; j < ld; ++j) out[j] += vector[j];
    if (s.positions == DenseStep::kNone) continue;
    const Number* position = packed + s.packed_positions + n * ld;
    for (int64_t j = 0; j < ld; ++j) out[j] += position[j];
  }
  for (int64_t j = 0; j < ld; ++j) out[j] /= static_cast<Number>(std::max<int64_t>(count, 1));
}

/// Packs the parameters of an LSTM, and computes its part of a pass (lstm_passes.cpp).
void pack_step(const LstmStep& step, const kernels::Kernels& kernels, std::span<const float* const> values,
               float* packed);
void forward_step(const Pass& pass, const LstmStep& step);
void backward_step(Back& back, const LstmStep& step);

}  // namespace slimbayes::engine
