#pragma once

#include <memory>
#include <span>

#include "slimbayes/engine/plan.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

/// The features of rows from which a linear head answers, in float64. Immutable.
class Features {
 public:
  /// The features phi [rows, rank] with padded rows, and where the features are the inputs of a network's
  /// last layer, the network's output [rows, outputs]; else nullptr.
  struct Rows {
    const double* phi;
    const double* output;
  };

  virtual ~Features() = default;
  virtual int64_t inputs() const = 0;  // d
  virtual int64_t rank() const = 0;    // r
  virtual int64_t outputs() const { return 0; }
  virtual int64_t scratch() const = 0;  // doubles of memory that run() needs
  /// x [rows, inputs], at most kChunkRows rows. The result lies in `scratch`.
  virtual Rows run(const double* x, int64_t rows, double* scratch) const = 0;
};

/// What the features of a network are: its outputs, the inputs of its last layer, which is dense, or these
/// with random features of its gradient (engine/gradient_sketch.h).
enum class FeaturesOf : uint8_t { outputs, last_layer, sketch };

/// Return the features of a plan's network, computed in the type of its parameters. The parameters are in the
/// order of Plan::tensors() and are copied. nullptr: the plan has a step that float64 does not know, or, for
/// last_layer, does not end in a dense layer. Not of a sketch.
std::shared_ptr<const Features> network_features(const Plan& plan, std::span<const float* const> values,
                                                 FeaturesOf of);
std::shared_ptr<const Features> network_features(const Plan& plan, std::span<const double* const> values,
                                                 FeaturesOf of);

/// Returns the inputs themselves as features.
std::shared_ptr<const Features> identity_features(int64_t inputs);

}  // namespace slimbayes::engine
