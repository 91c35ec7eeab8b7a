#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "slimbayes/bayes/random_weights.h"

namespace slimbayes {

/// Returns the random stream for draw s of the weights in validation and prediction. It is the same for every
/// model, so that equal parameters give equal answers.
Stream draw_stream(int64_t s);

/// Returns whether a DrawStack can hold `draws` draws of a network with this plan and compute with them
/// (stacked() of nn/binding.h): the network has no convolution, all its matrices are random, of its vectors
/// at most biases are, and the draws take at most 128 MB.
bool can_stack(const NetworkSpec& spec, const NetworkLayout& layout, const WeightPlan& plan,
               const WeightPosterior& weights, int64_t draws);

/// All draws of a network's weights, for passes with all of them at once. Use it to answer few rows: S passes
/// over one row spend most of their time in draws and calls, one pass over S draws spends it in matrix
/// products. The draws are made at the first use and kept, so later passes need no random numbers. Safe to
/// use from several threads.
class DrawStack {
 public:
  /// `network` and `weights` must outlive the object; can_stack() must hold for them.
  DrawStack(const Network& network, const WeightPosterior& weights, int64_t draws);
  ~DrawStack();

  /// Returns the outputs of all draws, [S b, k], draw after draw.
  at::Tensor operator()(const Input& rows) const;

 private:
  struct Kept;
  const Network& network_;
  const WeightPosterior& weights_;
  int64_t draws_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace slimbayes
