#include "slimbayes/engine/row_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/storage/error.h"

namespace slimbayes::engine {

double* part_of(double*& scratch, int64_t count) {
  double* part = scratch;
  scratch += kernels::padded(count);
  return part;
}

double rounded_row_variance(double var, double scale, int64_t& zeroed) {
  constexpr double kRounding = -1e-10;
  if (!std::isfinite(scale)) return std::numeric_limits<double>::quiet_NaN();
  if (!(var >= kRounding * scale))
    throw NumericalError(
        "[rounded_variance] expected variances above -1e-10 of their scale; received one below, or NaN; "
        "the covariance is not positive semidefinite: raise the noise variance or the jitter");
  if (var < 0) ++zeroed;
  return std::max(var, 0.0);
}

}  // namespace slimbayes::engine
