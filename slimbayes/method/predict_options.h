#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>

#include "slimbayes/export.h"

namespace slimbayes {

/// How predictions are computed.
struct SLIMBAYES_EXPORT PredictOptions {
  int64_t batch = 4096;  // rows per batch: limits the memory; changes answers by float32 rounding at most
  /// Whether a pass through the network builds an autograd graph. A method sets it if its answer needs a
  /// gradient with respect to the inputs or the weights.
  bool gradients = false;
  /// Where networks compute. The answers are on the CPU.
  at::Device device = at::kCPU;
  /// Called while the work goes on, with the share of it that is done, ascending in (0, 1]. Empty: no calls.
  std::function<void(double share)> progress = {};

  /// Returns the same options with batches of at most this many rows.
  PredictOptions with_batch_at_most(int64_t rows) const;

  /// Returns the same options with the CPU as the device: for a method that answers there alone.
  PredictOptions on_host() const;

  /// Returns the same options for a part of the work: its progress goes from `from` to `to` of the whole.
  PredictOptions within(double from, double to) const;
};

}  // namespace slimbayes
