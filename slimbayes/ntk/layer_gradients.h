#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// The form in which the gradients of one layer's parameters are held for many rows. K_ij is the inner
/// product of the gradients of the rows i and j. delta is the gradient of the network's output with respect
/// to the layer's output. p and q are positions, the places at which the layer applies its weights (steps of
/// a sequence, windows of an image). s and t are the multipliers of weight and bias.
enum class GradientForm {
  product,  // K_ij = sum_pq (s^2 <a_ip, a_jq> + t^2) <delta_ip, delta_jq>, a the layer's input
  tokens,   // K_ij = sum_pq [token_ip = token_jq] <delta_ip, delta_jq>
  vector    // K_ij = <g_i, g_j>, g the gradient itself
};

/// The gradients of b rows with respect to the parameters of one layer.
struct LayerGradients {
  GradientForm form;
  at::Tensor input;  // product: [b, positions, in]; tokens: [b, positions] int64; vector: undefined
  at::Tensor delta;  // product, tokens: [b, positions, out]; vector: the gradients [b, numbers]
  double weight2 = 1, bias2 = 0;  // s^2 and t^2 of a product; t^2 = 0 without a bias
  int64_t vocabulary = 0;         // tokens: the size of the vocabulary
};

/// The gradients of the rows [from, to) with respect to all parameters, in the type of the model.
struct GradientBlock {
  int64_t from, to;
  std::vector<LayerGradients> layers;
};

/// How the gradients of a model are held, and what that costs.
struct GradientPlan {
  /// Empty if there is a formula for the gradient of every layer. Otherwise it describes the first layer or
  /// parameter without one, for a message, and a block holds one vector of p numbers for each row.
  std::string unknown;
  std::vector<GradientForm> forms;  // form of the weights of each tap
  int64_t batch = 1;                // rows of one forward pass
  double numbers = 0;               // numbers that a block holds for each row
  // Floating-point operations:
  double forward_flops = 0;   // forward pass of one row
  double gradient_flops = 0;  // forming the gradient vectors of one row that a block holds
  double pair_flops = 0;      // one element K_ij
  double forming_flops = 0;   // forming the gradient vectors of one row that a block does not hold
  double column_flops = 0;    // adding the gradients of one row to one weighted sum
};

/// Makes the plan from the layers' sizes at the row rows.longest. The weight of a linear layer, a convolution
/// or an embedding gets the form in which K_ij takes fewer multiplications: about positions^2 (in + out) by
/// product or tokens, in * out by vector. If `factored`, it is product or tokens in any case. Norms are held
/// as vectors.
GradientPlan gradient_plan(const GradientModel& model, const GradientRows& rows, bool factored = false);

/// The most rows of a block. It is chosen so that a tile of K fits the processor's cache.
inline constexpr int64_t kTileRows = 256;

/// A model, the rows at which its gradients are computed, and the plan for them. `model` and `rows` must
/// outlive this object.
struct PlannedRows {
  const GradientModel& model;
  const GradientRows& rows;
  GradientPlan plan;
};

/// Computes the gradients of the rows [from, to) in blocks of at most kTileRows rows, with one forward and
/// one backward pass for each batch. If plan.unknown is not empty, each row takes passes of its own.
std::vector<GradientBlock> gradient_blocks(const PlannedRows& planned, int64_t from, int64_t to);

/// Default for the bytes of gradients that are held at once.
inline constexpr int64_t kKeptBytes = 128 << 20;

/// Returns how many rows of gradients may be held at once. These are all n rows if they take at most `bytes`.
/// Otherwise they are as many as take half of `bytes`, because two ranges of rows are held and compared; at
/// least one.
int64_t rows_at_once(const GradientPlan& plan, const GradientModel& model, int64_t n,
                     int64_t bytes = kKeptBytes);

/// Returns K(i, j), the inner product of the gradients of two rows, for the rows i of x and j of y. The
/// products are in the type of the model, their sum over the layers is float64. [b_x, b_y] float64
at::Tensor kernel_tile(const GradientBlock& x, const GradientBlock& y);

/// Returns K(i, i), the squared norm of the gradient of each row. [b] float64
at::Tensor kernel_diagonal(const GradientBlock& x);

}  // namespace slimbayes
