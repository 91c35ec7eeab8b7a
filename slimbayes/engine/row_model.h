#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "slimbayes/density/row_mixture.h"
#include "slimbayes/engine/buffer.h"
#include "slimbayes/engine/plan.h"

namespace slimbayes::engine {

/// A place for numbers of a chunk within scratch memory: returns it, and moves `scratch` behind it. Keeps the
/// alignment.
double* part_of(double*& scratch, int64_t count);

/// Writes (x - shift) / scale to `out`, in the float32 in which a member of `auto` learned its inputs;
/// returns it.
const double* in_view(const std::vector<double>& shift, const std::vector<double>& scale, const double* x,
                      double* out);

/// A fitted regression that answers rows without libtorch. Immutable: threads share it, each with memory of
/// its own. The answer to a row has the same bits whatever other rows are asked with it.
class RowModel {
 public:
  virtual ~RowModel() = default;

  virtual int64_t inputs() const = 0;  // d, numbers of an encoded row

  /// Returns the parameters of each component of the density that are the same in every row: weight, degrees
  /// of freedom, warp, bounds. Empty: the answers are Gaussian.
  const std::vector<ComponentShape>& density() const { return density_; }

  /// Returns how many numbers answer() writes for each row: the mean, the aleatoric and the epistemic
  /// variance, then the same three of each component of the density, for its warped target.
  int64_t numbers() const { return 3 + 3 * static_cast<int64_t>(density_.size()); }

  /// Returns how many doubles of memory answer() needs beside its result.
  virtual int64_t scratch() const = 0;

  /// Answers `rows` rows, at most kChunkRows: x [rows, inputs] finite, out [numbers, rows] with the stride
  /// `ldo`, `scratch` aligned to 64 bytes. Returns the number of rows whose epistemic variance rounding made
  /// negative; it is 0 there. Throws NumericalError where a variance is negative by more than rounding.
  virtual int64_t answer(const double* x, int64_t rows, double* out, int64_t ldo, double* scratch) const = 0;

 protected:
  std::vector<ComponentShape> density_;
};

/// Removes rounding errors from a variance as rounded_variance (core/linalg.h) does: returns it, at least 0,
/// and adds 1 to `zeroed` if it was below.
double rounded_row_variance(double var, double scale, int64_t& zeroed);

}  // namespace slimbayes::engine
