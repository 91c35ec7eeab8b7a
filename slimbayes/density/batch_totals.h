#pragma once

#include <functional>

namespace slimbayes {

/// Numbers over all rows of a batch on which the gradient of each row of a regression depends
/// (objectives/head_gradient.h).
struct BatchTotals {
  double rows = 0;     // b
  double weights = 0;  // sum of v_i^focus, the weights of the rows before they are normalised
  double largest = 0;  // largest |phi_i|^2
  /// By which the gradient of `largest` counts here: 1, or, where processes share the rows of the batch and
  /// average their gradients by their shares, 1 / share in the process with that row and 0 in the others.
  double largest_weight = 1;
};

/// Returns the totals of a batch that several processes share, given those of this process's rows. Empty:
/// this process has all rows.
using JoinTotals = std::function<BatchTotals(const BatchTotals& own)>;

}  // namespace slimbayes
