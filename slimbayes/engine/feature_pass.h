#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "slimbayes/engine/tape.h"

namespace slimbayes::engine {

/// Sums over the rows of a regression by r features phi(x), on which the exact posterior of a linear model of
/// these features depends (core/linear_statistics.h).
struct FeatureSums {
  std::vector<double> gram;               // Phi^T Phi [r, r], symmetric
  std::vector<double> with_y, with_ones;  // Phi^T y and Phi^T 1 [r]
  double prior_var = 0, largest = 0;      // sum and maximum of |phi|^2; computed only where asked for
  int64_t largest_row = 0;                // the first row with that maximum
};

/// The derivative of a loss with respect to the features: that of row i is phi_i^T `gram` + y_i `with_y` +
/// `with_ones`, plus `extra` phi_i for the one row `extra_row`. The memory of the spans must outlive it.
struct FeatureGradient {
  std::span<const double> gram;               // [r, r] by rows
  std::span<const double> with_y, with_ones;  // [r]
  double extra = 0;
  int64_t extra_row = 0;
};

/// The two passes over all rows of a full-batch training of features phi(x), the outputs of a plan. Features
/// are float32, as the network computes them; sums and derivatives of features are float64. Every chunk keeps
/// its tape between the passes.
class FeaturePass {
 public:
  FeaturePass(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels);

  /// Computes the features and returns their sums. `values` are the plan's parameters; x [rows, inputs]
  /// contiguous, y [rows]. `squares`: also prior_var and largest.
  FeatureSums forward(std::span<const float* const> values, const float* x, const double* y, int64_t rows,
                      bool squares);

  /// Adds the gradient of the plan's parameters, after forward() of the same y.
  void backward(const FeatureGradient& gradient, const double* y, std::span<float* const> gradients);

 private:
  float* tape_of(int64_t chunk) const { return tape_.data() + chunk * plan_->tape_floats(/*keep=*/true); }
  std::shared_ptr<const Plan> plan_;
  const kernels::Kernels& kernels_;
  int64_t rank_, ld_, rows_ = 0;
  Floats packed_, tape_, work_;
  Doubles wide_, result_;              // of one chunk [kChunkRows, ld_]
  Doubles lower_, factor_;             // [r, ld_]
  std::vector<const float*> outputs_;  // phi of each chunk, on its tape
};

}  // namespace slimbayes::engine
