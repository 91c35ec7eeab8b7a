#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// How the gradients of one layer's parameters are held for many rows i, j. delta is the gradient of the
/// output with respect to the layer's output, p and q are the positions at which the layer applies its
/// weights (steps of a sequence, windows of an image), s and t the multipliers of weight and bias.
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
  int64_t vocabulary = 0;         // tokens: how many there are
};

/// The gradients of the rows [from, to) with respect to all parameters, in the type of the model.
struct GradientBlock {
  int64_t from, to;
  std::vector<LayerGradients> layers;
};

/// How the gradients of a model are held, and what that costs.
struct GradientPlan {
  /// Names the first layer or parameter for which there is no formula by layer, for a message. Empty: there
  /// are formulas for all. If it is not empty, a block holds one vector of p numbers for each row.
  std::string unknown;
  std::vector<GradientForm> forms;  // one for each tap, of its weights
  int64_t batch = 1;                // rows of one forward pass
  double numbers = 0;               // numbers that a block holds for each row
  // Floating-point operations:
  double forward_flops = 0;   // forward pass of one row
  double gradient_flops = 0;  // forming the gradient vectors of one row that a block holds
  double pair_flops = 0;      // one element K_ij
  double forming_flops = 0;   // forming the gradient vectors of one row that a block does not hold
  double column_flops = 0;    // adding the gradients of one row to one weighted sum
};

/// Makes the plan from the shapes of the first row's taps. The form of a layer is the one with the cheaper
/// K_ij: positions^2 (in + out) products against in * out.
GradientPlan gradient_plan(const GradientModel& model, const GradientRows& rows);

/// The most rows of a block: the tiles of K fit the processor's cache.
inline constexpr int64_t kTileRows = 256;

/// Rows, the model whose gradients they get, and the plan for both. The references must outlive it.
struct PlannedRows {
  const GradientModel& model;
  const GradientRows& rows;
  GradientPlan plan;
};

/// Computes the gradients of the rows [from, to) in blocks of at most kTileRows rows, with one forward and
/// one backward pass for each batch. If the plan has an unknown parameter: one backward pass for each row.
std::vector<GradientBlock> gradient_blocks(const PlannedRows& planned, int64_t from, int64_t to);

/// Default for the bytes of gradients that are held at once.
inline constexpr int64_t kKeptBytes = 128 << 20;

/// Returns how many rows of gradients may be held at once: all n if they take at most `bytes`, else as many
/// as take half of that, since two ranges of rows are compared, but at least one.
int64_t rows_at_once(const GradientPlan& plan, const GradientModel& model, int64_t n,
                     int64_t bytes = kKeptBytes);

/// Returns K(i, j) for the rows i of x and j of y. The products are in the type of the model, their sum over
/// the layers is float64. [b_x, b_y] float64
at::Tensor kernel_tile(const GradientBlock& x, const GradientBlock& y);

/// Returns the diagonal K(i, i). [b] float64
at::Tensor kernel_diagonal(const GradientBlock& x);

}  // namespace slimbayes
