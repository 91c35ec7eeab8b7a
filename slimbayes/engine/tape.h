#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

/// Floats at an address that is a multiple of 64 bytes. Not initialised.
class Floats {
 public:
  /// Makes room for at least `count` floats; loses the values when it grows.
  void reserve(int64_t count);
  float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* floats) const;
  };
  std::unique_ptr<float[], Free> data_;
  int64_t size_ = 0;
};

/// The packed parameters of a plan, and the memory of one forward pass of a batch, which its backward pass
/// reads. A tape serves one pass after another; two passes at the same time need two tapes.
class Tape {
 public:
  Tape(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels);

  const Plan& plan() const { return *plan_; }

  /// Reads the parameters, in the order of Plan::tensors(). Call it before the first pass, and when they have
  /// changed.
  void pack(std::span<const float* const> values);

  /// Computes y [rows, outputs] (stride ldy) from x [rows, inputs] (stride ldx). `keep`: backward() follows.
  void forward(const float* x, int64_t ldx, int64_t rows, float* y, int64_t ldy, bool keep);

  /// Adds the gradient of the parameters to `gradients`, given that of the outputs of the last forward():
  /// g [rows, outputs] (stride ldg).
  void backward(const float* g, int64_t ldg, std::span<float* const> gradients);

 private:
  std::shared_ptr<const Plan> plan_;
  const kernels::Kernels& kernels_;
  Floats packed_, tape_, work_;
  int64_t rows_ = 0;
};

}  // namespace slimbayes::engine
