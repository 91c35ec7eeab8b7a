#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// What is predicted: a number, a class, a count, or where events happen.
enum class TaskKind : uint8_t { regression, classification, counts, events };

/// The distribution of the target given the latent functions, which are the outputs of the model before the
/// likelihood. Regression has two: gaussian, and student, whose predictive has the heavy tails of a Student-t
/// distribution. Classification has two: bernoulli for two classes with one latent function, softmax for any
/// number of classes with one latent function per class.
/// Counts have three: poisson, negative_binomial, whose variance grows with the square of the mean too, and
/// zero_inflated_poisson, which has zeros beside those of a Poisson count.
enum class LikelihoodKind : uint8_t {
  gaussian,
  bernoulli,
  softmax,
  poisson,
  cox,
  student,
  negative_binomial,
  zero_inflated_poisson
};

/// Returns the task of a likelihood: regression for gaussian and student, classification for bernoulli and
/// softmax, counts for poisson, negative_binomial and zero_inflated_poisson, events for cox.
SLIMBAYES_EXPORT TaskKind task_of(LikelihoodKind likelihood);

/// Returns the name of a task or likelihood in options, reports and model files, such as "regression" or
/// "negative-binomial".
SLIMBAYES_EXPORT std::string_view name_of(TaskKind task);
SLIMBAYES_EXPORT std::string_view name_of(LikelihoodKind likelihood);

/// Returns the names of all likelihoods.
SLIMBAYES_EXPORT std::vector<std::string> likelihood_names();

/// Returns the task or likelihood with this name. Throws std::invalid_argument for an unknown name and
/// suggests the nearest one.
SLIMBAYES_EXPORT TaskKind task_named(std::string_view name);
SLIMBAYES_EXPORT LikelihoodKind likelihood_named(std::string_view name);

/// The values between which a target lies by its nature, in its own units; an infinite end is none. A
/// regression within bounds is fitted to a transform of its target without bounds (`unbounded`).
struct SLIMBAYES_EXPORT TargetBounds {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool operator==(const TargetBounds&) const = default;
  bool both() const;             // whether both ends are finite
  bool holds(double y) const;    // whether low < y < high
  bool at_end(double y) const;   // whether y is one of the ends
  std::string in_words() const;  // such as "above 0 and below 1"

  /// Returns the transform of a target: log((y - low) / (high - y)) between two ends, log(y - low) above
  /// `low` alone, -log(high - y) below `high` alone. Each increases in y and reaches every number. Infinite
  /// at the ends, NaN beyond them.
  double unbounded(double y) const;
};

/// Returns the bounds that the option `.bounds` names: "LOW,HIGH", where an end that is empty or inf is none.
/// Returns nothing for "". Throws std::invalid_argument for another text, for two infinite ends, for a LOW
/// that is not below HIGH, and for a distance of the ends outside 1e-140 to 1e140.
SLIMBAYES_EXPORT std::optional<TargetBounds> bounds_named(std::string_view text);

}  // namespace slimbayes
