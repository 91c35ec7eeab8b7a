#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/classes/class_model.h"
#include "slimbayes/serve/row_regression.h"

namespace slimbayes {

/// A classification that answers encoded rows, with prediction sets, as Model::predict and Model::answers do:
/// torch-free. Immutable.
class RowClasses {
 public:
  RowClasses(std::shared_ptr<const engine::ClassModel> rows, CalibrationScores calibration);

  int64_t inputs() const { return rows_->inputs(); }    // d, numbers of an encoded row
  int64_t classes() const { return rows_->classes(); }  // C
  bool calibrated() const { return calibration_.groups > 0; }

  /// Entropies of an answer, in nats (Classes).
  struct Entropies {
    double predictive = 0, mutual_information = 0;
    int64_t zeroed = 0;  // variances of logits that rounding made negative; they were set to 0
  };

  /// Answers an encoded row x [d] of finite numbers: writes its probabilities to p [C]. `scratch` is memory
  /// for the next rows. An answer that overflows is not finite. Throws NumericalError where the mutual
  /// information is negative by more than rounding.
  Entropies answer(std::span<const double> x, std::span<double> p, engine::Doubles& scratch) const;

  /// Returns the threshold of the prediction sets at this level, for mark_set(). Throws std::invalid_argument
  /// without calibration, and as conformal_factor().
  double threshold(double level) const;

 private:
  std::shared_ptr<const engine::ClassModel> rows_;
  CalibrationScores calibration_;
};

}  // namespace slimbayes
