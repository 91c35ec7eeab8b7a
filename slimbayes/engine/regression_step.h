#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "slimbayes/density/batch_totals.h"
#include "slimbayes/engine/inducing_points.h"
#include "slimbayes/engine/parallel.h"
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
  JoinTotals join = {};  // of a batch that processes share

  bool is_focused() const { return predictive && focus > 0; }
};

/// The parameters of the head q(w) = N(m, L L^T), or their gradients: mean [r], log L_ii [r], the strictly
/// lower part of L [r, r] (the rest is ignored), and the offset [1]; of a step with inducing points, also
/// theirs.
template <class Number>
struct RegressionHead {
  Number* mean = nullptr;
  Number* log_diagonal = nullptr;
  Number* lower = nullptr;
  Number* offset = nullptr;
  InducingValues<Number> inducing = {};
};

/// The terms of the loss, and its derivative with respect to the noise variance.
struct RegressionLoss {
  double data = 0, kl = 0, total = 0;
  double grad_noise_var = 0;
};

/// One training step of a regression by features phi(x): the loss of objectives/head_gradient.h (its
/// equations are written there) with the gradient of every parameter, without libtorch. The features are the
/// outputs of a plan, or those of inducing points on its outputs. Rows pass in chunks; products with the
/// triangular factor take its triangle alone. The loss, and its derivatives by the mean and variance of
/// a row, are computed in float64 from float32 means and variances. The parts of
/// a batch (engine/parallel.h) may run on several threads.
class RegressionStep {
 public:
  /// What the inducing points, if any, add to the variance of a row: nothing, or a - |phi|^2.
  enum class Correction : uint8_t { none, kernel };

  RegressionStep(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels);
  /// With `rank` inducing points on the outputs of the plan, which may have no operation.
  RegressionStep(std::shared_ptr<const Plan> plan, int64_t rank, Correction correction,
                 const kernels::Kernels& kernels);

  /// Adds the gradient of the loss to `gradients` (of the plan's parameters) and `head_gradients`, and
  /// returns the loss; or does nothing and returns nullopt where InducingPoints::prepare() fails. `values`
  /// are the plan's parameters; x [rows, inputs] contiguous, y [rows]; rows > 0.
  std::optional<RegressionLoss> run(std::span<const float* const> values,
                                    const RegressionHead<const float>& head, const float* x, const float* y,
                                    int64_t rows, const RegressionObjective& objective,
                                    std::span<float* const> gradients,
                                    const RegressionHead<float>& head_gradients, DropoutFactors factors = {},
                                    const Parallel& parallel = {});

 private:
  /// What a row contributes: its prediction, then its derivatives.
  struct RowTerms {
    std::vector<float> var, mean, square;  // |A|^2, <m, phi>, |phi|^2
    std::vector<double> exact_square;      // |phi|^2 of inducing points
    std::vector<float> to_factor, to_mean, to_phi;
    std::vector<double> to_correction;
  };

  /// A part of the batch with memory of its own.
  struct Part {
    PartRows at;
    Floats work, grad_phi;          // of a chunk
    Floats grad_factor, grad_mean;  // [r, ld], [ld]
    Floats gradients;               // of the plan's parameters; empty for the first part
    std::vector<float*> to;         // where they stand
    InducingPoints::Work inducing_work;
    InducingPoints::Sums inducing_sums;
  };

  void reserve();
  void cut(int64_t rows, std::span<float* const> gradients);
  void pack_head(const RegressionHead<const float>& head);
  void forward(Part& part, const float* x, bool squares, DropoutFactors factors);
  RegressionLoss differentiate(const float* y, int64_t rows, double offset,
                               const RegressionObjective& objective, const BatchTotals& totals);
  void regularise(RegressionLoss& loss, const RegressionObjective& objective, const BatchTotals& totals);
  double latent_var(size_t row) const;
  BatchTotals totals_of(int64_t rows, const RegressionObjective& objective) const;
  void backward(Part& part, const RegressionObjective& objective);
  void add_parts();
  void finish_head(const RegressionHead<const float>& head, const RegressionObjective& objective,
                   const RegressionHead<float>& gradients);
  float* tape_of(int64_t chunk) const { return tape_.data() + chunk * chunk_floats_; }
  double* inducing_tape_of(int64_t chunk) const {
    return inducing_tape_.data() + chunk * inducing_->tape_doubles();
  }

  std::shared_ptr<const Plan> plan_;
  const kernels::Kernels& kernels_;
  std::optional<InducingPoints> inducing_;
  bool corrected_ = false;
  int64_t rank_, ld_, chunk_floats_;
  Floats packed_, tape_;
  Doubles inducing_tape_;
  Floats factor_, transposed_, mean_;  // L and L^T [r, ld], m [ld]
  double squares_ = 0, logs_ = 0;      // |m|^2 + |L|^2, sum of log L_ii
  double grad_offset_ = 0;
  RowTerms terms_;
  std::vector<const float*> outputs_;  // phi of each chunk, on its tape
  std::vector<Part> parts_;            // those of the largest batch so far
  size_t used_ = 0;                    // how many of them this batch has
};

}  // namespace slimbayes::engine
