#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/training_options.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

namespace engine {
class Plan;
class Tape;
struct DropoutLayer;
}  // namespace engine

/// Returns whether there are kernels (kernels::all_kernels()) and the environment variable
/// SLIMBAYES_ENGINE=libtorch does not turn the engine off.
bool engine_is_available();

/// Returns whether the engine can read a tensor, and write its gradient: contiguous float32 on the CPU, and
/// either a parameter with a gradient buffer (nn/parameters.h) or a constant.
bool engine_can_bind(const at::Tensor& tensor);

/// Returns the texts of a batch as a plan takes them: tokens x [b, t] int64 as floats with their padding,
/// [b, longest]. mask [b, t]: as in Input (nn/network.h). Undefined where a row model would answer otherwise
/// than libtorch or not at all: for longer texts, tokens outside of [0, vocabulary), and a mask that is not x
/// != 0.
at::Tensor token_rows(const at::Tensor& x, const at::Tensor& mask, int64_t longest, int64_t vocabulary);

/// Returns the address of the first element of each tensor. They must be contiguous float32.
std::vector<const float*> pointers_of(const std::vector<at::Tensor>& tensors);

/// The tensors of a plan as the engine reads and writes them, in the order of Plan::tensors().
struct EngineTensors {
  std::vector<at::Tensor> tensors;  // keep the memory alive
  std::vector<const float*> values;
  std::vector<float*> gradients;  // nullptr for constants
  bool trained = false;           // whether a parameter may change
};

/// Returns the tensors of a plan; `lookup` finds them by name. Returns nullopt if the engine is not available
/// or engine_can_bind() not every tensor.
std::optional<EngineTensors> engine_tensors(const engine::Plan& plan, const Binding::Lookup& lookup);

/// The passes of a network through the engine (engine/plan.h) for float32 tensors on the CPU. It is the
/// second execution of a BoundNetwork; libtorch's is the other one, for every layer and device. The results
/// of both agree up to rounding.
///
/// In autograd a pass is one node: backward() adds the gradients straight to the `grad` of the parameters,
/// without a node for each of them. Derivatives by torch::autograd::grad and second derivatives do not see
/// through it; take libtorch's passes for those.
class EngineNetwork : public std::enable_shared_from_this<EngineNetwork> {
 public:
  /// Returns the network, or nullptr if the engine cannot compute it. It can if it is available, a plan knows
  /// every layer, and engine_can_bind() every tensor of `binding`.
  static std::shared_ptr<const EngineNetwork> of(const NetworkSpec& spec, const NetworkLayout& layout,
                                                 const Binding& binding);
  /// Returns the network of a plan, whose tensors `lookup` returns, under the same conditions.
  static std::shared_ptr<const EngineNetwork> of(std::shared_ptr<const engine::Plan> plan,
                                                 const Binding::Lookup& lookup);

  ~EngineNetwork();

  /// Returns whether the engine computes training passes too (Plan::trains).
  bool trains() const;
  /// Returns the rows [b, inputs] that operator() takes for an input x, or an undefined tensor if the engine
  /// cannot compute the pass: it can for float32 on the CPU without a gradient of its own, and for tokens
  /// (token_rows). x and mask: as in Input (nn/network.h); `training` is that of the pass, `drops` whether
  /// dropout is active in it (ForwardContext).
  at::Tensor rows_of(const at::Tensor& x, const at::Tensor& mask, bool training, bool drops) const;

  const std::vector<engine::DropoutLayer>& dropouts() const;

  /// Returns the outputs [b, out] for rows x [b, ...]. `factors` are those of the dropout layers
  /// (engine::DropoutFactors); empty: no dropout is active. Safe to call from several threads.
  at::Tensor operator()(const at::Tensor& x, const std::vector<at::Tensor>& factors = {}) const;

 private:
  friend struct EnginePass;
  friend struct KeptPass;
  EngineNetwork(std::shared_ptr<const engine::Plan> plan, EngineTensors tensors);

  /// Lends a tape with the present values of the parameters, and takes it back.
  std::unique_ptr<engine::Tape> borrow() const;
  void give_back(std::unique_ptr<engine::Tape> tape) const;

  std::shared_ptr<const engine::Plan> plan_;
  EngineTensors tensors_;
  at::Tensor leaf_;  // makes the outputs part of a graph
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<engine::Tape>> tapes_;  // those that nobody uses
};

}  // namespace slimbayes
