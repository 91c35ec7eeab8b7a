#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "slimbayes/engine/regression_step.h"
#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/objectives/variational_bound.h"

namespace slimbayes {

/// Training steps of a deep kernel through the engine: network, expansion, head and their gradients without
/// an autograd graph. For a Gaussian regression with the expansion `silu`.
class EngineStep {
 public:
  /// Returns nullptr if the engine cannot compute this deep kernel (EngineNetwork::of), or if the tensors of
  /// `lookup` are not parameters with a gradient.
  static std::shared_ptr<EngineStep> of(const DeepKernel& kernel, const NetworkSpec& spec,
                                        LikelihoodKind likelihood, const Network::Lookup& lookup);

  /// Returns whether the engine can take this batch.
  bool takes(const Input& input, const at::Tensor& y, const ForwardContext& context) const;

  /// Adds the gradient of the loss to that of every parameter except the noise. Returns the loss and
  /// d loss / d noise variance. y [b].
  engine::RegressionLoss run(const at::Tensor& x, const at::Tensor& y,
                             const engine::RegressionObjective& objective);

 private:
  EngineStep(std::shared_ptr<const engine::Plan> plan, EngineTensors tensors, bool dropout)
      : inputs_(plan->inputs()),
        dropout_(dropout),
        step_(std::move(plan), kernels::kernels()),
        tensors_(std::move(tensors)) {}

  int64_t inputs_;
  bool dropout_;
  engine::RegressionStep step_;
  EngineTensors tensors_;
  std::vector<at::Tensor> of_head_;  // keep the memory alive
  engine::RegressionHead<const float> head_;
  engine::RegressionHead<float> head_gradients_;
};

}  // namespace slimbayes
