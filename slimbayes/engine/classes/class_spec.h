#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "slimbayes/engine/classes/forest.h"
#include "slimbayes/engine/feature_spec.h"
#include "slimbayes/engine/linear_head.h"

namespace slimbayes::engine {

struct ClassSpec;

/// Logits that are the outputs of a network, known exactly. One logit f gives two classes, (sigmoid(-f),
/// sigmoid(f)).
struct KnownLogits {
  FeatureSpec features = {};
};

/// Gaussian logits that are independent of each other, a linear head for each; for features of a last layer
/// its output is added to the mean.
struct IndependentLogits {
  FeatureSpec features = {};
  std::vector<LinearHead> heads = {};
  uint64_t draws = 0;  // key of the stream of the draws (SoftmaxDraws)
};

/// Gaussian logits with a covariance, by a Laplace approximation (method/laplace_posterior.h). Its features
/// phi [r] are ((h - centre) scale, last) for the features h of the spec.
struct CorrelatedLogits {
  FeatureSpec features = {};
  std::vector<double> centre = {};  // empty: 0
  double scale = 1;
  std::optional<double> last = {};     // absent: phi has no constant
  std::vector<double> weights = {};    // V [k, r]; empty: the outputs of the network are the means
  std::vector<double> contrasts = {};  // C [K, k] from which the logits follow; empty: k logits
  /// LaplacePosterior's half [k r, k r], or the Kronecker factors: of_features [r, r], of_classes [k, k],
  /// variances [r, k].
  std::vector<double> half = {}, of_features = {}, of_classes = {}, variances = {};
  int64_t outputs = 0;   // k
  bool centred = false;  // the covariance is that of the logits minus their mean
};

/// The same answer for every row.
struct FixedClasses {
  int64_t inputs = 0;
  std::vector<double> probabilities = {};
  double expected_entropy = 0;
};

/// A candidate of `auto`: members in one view of the inputs.
struct ClassCandidate {
  std::vector<ClassSpec> members;
  std::vector<double> input_shift = {}, input_scale = {};  // [d]; empty: the inputs as they are
  double weight = 0;                                       // > 0
  double power = 1;                                        // of the probabilities
  bool of_folds = false;  // the power is that of each member; else of their average
};

/// The weighted product of the candidates' probabilities, to a power; of one candidate its answer.
struct PooledClasses {
  std::vector<ClassCandidate> candidates;
  double power = 1;
};

/// A fitted classification as data: all that the answer to a row follows from.
struct ClassSpec {
  std::variant<KnownLogits, IndependentLogits, CorrelatedLogits, ForestSpec, FixedClasses, PooledClasses> of =
      {};
};

}  // namespace slimbayes::engine
