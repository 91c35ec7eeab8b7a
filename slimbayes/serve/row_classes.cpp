#include "slimbayes/serve/row_classes.h"

#include <cmath>
#include <utility>

#include "slimbayes/density/class_average.h"
#include "slimbayes/engine/row_model.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

RowClasses::RowClasses(std::shared_ptr<const engine::ClassModel> rows, CalibrationScores calibration)
    : rows_(std::move(rows)), calibration_(std::move(calibration)) {}

RowClasses::Entropies RowClasses::answer(std::span<const double> x, std::span<double> p,
                                         engine::Doubles& scratch) const {
  scratch.reserve(rows_->scratch());
  const auto [expected, zeroed_vars] = rows_->answer(x.data(), p.data(), scratch.data());
  const double predictive = entropy_of(p), most = std::log(static_cast<double>(p.size()));
  int64_t zeroed = 0;
  const bool finite = std::isfinite(predictive) && std::isfinite(expected);
  // At most log C, which is the scale of the rounding errors of the difference.
  return {predictive, finite ? engine::rounded_row_variance(predictive - expected, most, zeroed) : NAN,
          zeroed_vars};
}

double RowClasses::threshold(double level) const {
  check(calibrated(), "prediction_set", "a model with conformal calibration", "one without",
        "fit it with calibrate=conformal");
  return calibration_.factor(level);
}

}  // namespace slimbayes
