#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "slimbayes/engine/classes/class_spec.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes::engine {

/// What the answer to a row has beside its probabilities.
struct ClassRow {
  double expected_entropy =
      0;               // entropy of the probabilities, averaged over the posterior (Classes), in nats
  int64_t zeroed = 0;  // variances that rounding made negative; they were set to 0
};

/// A fitted classification that answers rows without libtorch. Immutable: threads share it, each with memory
/// of its own.
class ClassModel {
 public:
  virtual ~ClassModel() = default;

  virtual int64_t inputs() const = 0;   // d, numbers of an encoded row
  virtual int64_t classes() const = 0;  // C
  /// Returns how many doubles of memory answer() needs beside its result.
  virtual int64_t scratch() const = 0;

  /// Answers a row x [inputs] of finite numbers, and writes the probabilities to p [classes]. `scratch` is
  /// aligned to 64 bytes. An answer that overflows is NaN. Throws NumericalError where a
  /// variance is negative by more than rounding.
  virtual ClassRow answer(const double* x, double* p, double* scratch) const = 0;
};

/// Refuses parts that do not fit each other, as those of a damaged file.
inline void check_parts(bool ok, std::string_view expected, std::string_view received) {
  check(ok, "class_model", expected, received, "the model file is damaged");
}

/// Returns whether the memory at hand holds the draws of so many logits, which a small damaged file may have.
inline bool draws_fit(int64_t logits) {
  constexpr double kBytes = 1024 * sizeof(double);
  return kBytes * static_cast<double>(logits) < static_cast<double>(memory_at_hand());
}

/// Returns the class model of this data; nullptr where the engine does not know a network. Throws
/// std::invalid_argument for parts that do not fit each other, which those of a damaged file may not.
std::shared_ptr<const ClassModel> class_model(const ClassSpec& spec);

/// That of correlated logits, and of a pool; else as class_model().
std::shared_ptr<const ClassModel> correlated_class_model(const CorrelatedLogits& spec);
std::shared_ptr<const ClassModel> pooled_class_model(const PooledClasses& spec);

}  // namespace slimbayes::engine
