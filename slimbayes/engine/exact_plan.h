#pragma once

#include <memory>
#include <span>

#include "slimbayes/engine/plan.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/kernels/kernels.h"

namespace slimbayes::engine {

/// The forward pass of a plan in float64, with its parameters. Immutable.
class ExactPlan {
 public:
  /// Takes the parameters in the order of Plan::tensors(). Returns nullptr if the plan has a step that is not
  /// known here.
  static std::shared_ptr<const ExactPlan> of(const Plan& plan, std::span<const double* const> values);

  int64_t inputs() const { return plan_.inputs(); }
  int64_t scratch() const { return plan_.tape_floats(/*keep=*/false); }  // doubles

  /// Computes `rows` rows, at most kChunkRows: x [rows, inputs]. Returns the tape, on which slots lie as in a
  /// plan's pass.
  double* run(const double* x, int64_t rows, double* scratch) const;

 private:
  explicit ExactPlan(const Plan& plan) : plan_(plan) {}

  Plan plan_;
  Doubles packed_;
};

}  // namespace slimbayes::engine
