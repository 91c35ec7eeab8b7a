#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "slimbayes/engine/tape.h"

namespace slimbayes::engine {

/// The objective of a step, as objectives/head_gradient.h has it: Gaussian noise, features without a
/// correction.
struct RegressionObjective {
  bool predictive = true;  // the data term: log of the predictive density, else the expected log density
  double alpha = 0;        // weight of the trace regulariser
  double kl_weight = 0;    // beta / n
  double focus = 0;        // exponent of the row weights
  double noise_var = 1;
};

/// The parameters of the head q(w) = N(m, L L^T), or their gradients: mean [r], log L_ii [r], the strictly
/// lower part of L [r, r] (the rest is ignored), and the offset [1].
template <class Number>
struct RegressionHead {
  Number* mean = nullptr;
  Number* log_diagonal = nullptr;
  Number* lower = nullptr;
  Number* offset = nullptr;
};

/// The terms of the loss, and its derivative with respect to the noise variance.
struct RegressionLoss {
  double data = 0, kl = 0, total = 0;
  double grad_noise_var = 0;
};

/// One training step of a regression by features phi(x), the outputs of a plan: the loss of
/// objectives/head_gradient.h (its equations are written there) with the gradient of every parameter, without
/// libtorch. Rows pass in chunks; products with the triangular factor take its triangle alone. Sums over rows
/// and the terms of a row are float64.
class RegressionStep {
 public:
  RegressionStep(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels);

  /// Adds the gradient of the loss to `gradients` (of the plan's parameters) and `head_gradients`, and
  /// returns the loss. `values` are the plan's parameters; x [rows, inputs] contiguous, y [rows]; rows > 0.
  RegressionLoss run(std::span<const float* const> values, const RegressionHead<const float>& head,
                     const float* x, const float* y, int64_t rows, const RegressionObjective& objective,
                     std::span<float* const> gradients, const RegressionHead<float>& head_gradients);

 private:
  /// What a row contributes: its prediction, then its derivatives.
  struct RowTerms {
    std::vector<float> var, mean, square;  // |A|^2, <m, phi>, |phi|^2
    std::vector<float> to_factor, to_mean, to_phi;
  };

  void pack_head(const RegressionHead<const float>& head);
  void forward(const float* x, int64_t rows, bool squares);
  RegressionLoss differentiate(const float* y, int64_t rows, double offset,
                               const RegressionObjective& objective);
  void backward(int64_t rows, const RegressionObjective& objective, std::span<float* const> gradients);
  void finish_head(const RegressionHead<const float>& head, const RegressionObjective& objective,
                   const RegressionHead<float>& gradients);
  float* tape_of(int64_t chunk) const { return tape_.data() + chunk * chunk_floats_; }

  std::shared_ptr<const Plan> plan_;
  const kernels::Kernels& kernels_;
  int64_t rank_, ld_, chunk_floats_;
  Floats packed_, tape_, work_;
  Floats factor_, transposed_, mean_;  // L and L^T [r, ld], m [ld]
  Floats grad_factor_, grad_mean_;     // [r, ld], [ld]
  double squares_ = 0, logs_ = 0;      // |m|^2 + |L|^2, sum of log L_ii
  double grad_offset_ = 0;
  RowTerms terms_;
  std::vector<float*> outputs_;  // phi of each chunk, on its tape
};

}  // namespace slimbayes::engine
