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

const double* in_view(const std::vector<double>& shift, const std::vector<double>& scale, const double* x,
                      double* out) {
  for (size_t j = 0; j < shift.size(); ++j) out[j] = static_cast<float>((x[j] - shift[j]) / scale[j]);
  return out;
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
