#include "slimbayes/engine/row_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "slimbayes/storage/error.h"

namespace slimbayes::engine {

void Doubles::Free::operator()(double* doubles) const { std::free(doubles); }

void Doubles::reserve(int64_t count) {
  if (count <= size_) return;
  const auto bytes = static_cast<size_t>(kernels::padded(count)) * sizeof(double);
  data_.reset(static_cast<double*>(std::aligned_alloc(64, bytes)));
  if (!data_) throw std::bad_alloc();
  size_ = count;
}

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
