#pragma once

#include <cstdint>
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

}  // namespace slimbayes
