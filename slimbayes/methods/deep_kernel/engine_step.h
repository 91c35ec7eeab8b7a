#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/engine/regression_step.h"
#include "slimbayes/methods/deep_kernel/deep_kernel.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/objectives/variational_bound.h"

namespace slimbayes {

/// Training steps of a deep kernel through the engine: network, expansion, head and their gradients without
/// an autograd graph. For a Gaussian regression with the expansion `silu` or `rbf`.
class EngineStep {
 public:
  /// Returns nullptr if the engine cannot compute this deep kernel (EngineNetwork::of), or if the tensors of
  /// `lookup` are not parameters with a gradient.
  static std::shared_ptr<EngineStep> of(const DeepKernel& kernel, const NetworkSpec& spec,
                                        LikelihoodKind likelihood, const Network::Lookup& lookup);

  /// Returns whether the engine can take this batch.
  bool takes(const Input& input, const at::Tensor& y) const;

  /// Adds the gradient of the loss to that of every parameter except the noise. Returns the loss and
  /// d loss / d noise variance. y [b]. Does nothing and returns nullopt for inducing points whose Gram matrix
  /// needs what only libtorch's path has: jitter, differences of far points, or an error for NaN.
  std::optional<engine::RegressionLoss> run(const at::Tensor& x, const at::Tensor& y,
                                            const engine::RegressionObjective& objective,
                                            const ForwardContext& context);

 private:
  EngineStep(const DeepKernel& kernel, std::shared_ptr<const engine::Plan> plan);

  /// Stores the addresses of a parameter and of its gradient. Returns false if it has none.
  bool bind(const std::string& name, const Network::Lookup& lookup, const float*& value, float*& gradient);

  std::shared_ptr<const engine::Plan> plan_;
  engine::RegressionStep step_;
  std::vector<at::Tensor> tensors_;  // keep the memory alive
  std::vector<const float*> values_;
  std::vector<float*> gradients_;
  engine::RegressionHead<const float> head_;
  engine::RegressionHead<float> head_gradients_;
};

}  // namespace slimbayes
