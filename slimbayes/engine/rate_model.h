#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "slimbayes/density/count.h"
#include "slimbayes/engine/row_spec.h"

namespace slimbayes::engine {

/// A candidate of `auto`, or a method by itself: members that answer with equal shares.
struct RateCandidate {
  std::vector<LinearRows> members;  // the mean and the epistemic variance of each are those of the log rate
  std::vector<double> input_shift = {}, input_scale = {};  // [d]; empty: the inputs as they are
  double weight = 1;                                       // > 0
};

/// A fitted regression of counts as data: the log rate of a row is Gaussian, with the moments of the rates of
/// all candidates.
struct RateSpec {
  std::vector<RateCandidate> candidates;
};

/// The answer to a row.
struct RateRow {
  LogRate rate = {};
  int64_t zeroed = 0;  // variances that rounding made negative; they were set to 0
};

/// A regression of counts that answers rows without libtorch. Immutable: threads share it, each with memory
/// of its own.
class RateModel {
 public:
  virtual ~RateModel() = default;
  virtual int64_t inputs() const = 0;   // d, numbers of an encoded row
  virtual int64_t scratch() const = 0;  // doubles of memory that answer() needs
  /// Answers a row x [inputs] of finite numbers. `scratch` is aligned to 64 bytes.
  virtual RateRow answer(const double* x, double* scratch) const = 0;
};

/// Returns the model of this data; nullptr where the engine does not know a network. Throws
/// std::invalid_argument for parts that do not fit each other.
std::shared_ptr<const RateModel> rate_model(const RateSpec& spec);

}  // namespace slimbayes::engine
