#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/parallel.h"
#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

/// The packed parameters of a plan, and the memory of one forward pass of a batch, which its backward pass
/// reads. A tape serves one pass after another; two passes at the same time need two tapes.
class Tape {
 public:
  Tape(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels);

  /// Reads the parameters, in the order of Plan::tensors(). Call it before the first pass, and when they have
  /// changed.
  void pack(std::span<const float* const> values);

  /// Computes y [rows, outputs] (stride ldy) from x [rows, inputs] (stride ldx). `keep`: backward() follows.
  void forward(const float* x, int64_t ldx, int64_t rows, float* y, int64_t ldy, bool keep,
               DropoutFactors factors = {}, const Parallel& parallel = {});

  /// Adds the gradient of the parameters to `gradients`, given that of the outputs of the last forward():
  /// g [rows, outputs] (stride ldg). Entries of `gradients` may be nullptr.
  void backward(const float* g, int64_t ldg, std::span<float* const> gradients,
                const Parallel& parallel = {});

 private:
  std::shared_ptr<const Plan> plan_;
  const kernels::Kernels& kernels_;
  Floats packed_, tape_;
  std::vector<PartRows> parts_;            // of the last forward() that kept its values
  std::vector<Floats> works_, gradients_;  // of each part; the first one adds to the caller's gradients
};

}  // namespace slimbayes::engine
