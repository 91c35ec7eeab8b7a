#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// What is predicted: a number, a class, a count, or where events happen.
enum class TaskKind : uint8_t { regression, classification, counts, events };

/// How the target follows from the latent functions. Two of them serve classification: bernoulli for two
/// classes with one latent function, softmax for any number with one a class.
enum class LikelihoodKind : uint8_t { gaussian, bernoulli, softmax, poisson, cox };

/// gaussian: regression; bernoulli, softmax: classification; poisson: counts; cox: events.
TaskKind task_of(LikelihoodKind likelihood);

/// The name in options, reports and model files, such as "regression" or "poisson".
std::string_view name_of(TaskKind task);
std::string_view name_of(LikelihoodKind likelihood);

/// The name of every likelihood.
std::vector<std::string> likelihood_names();

/// The task or likelihood of this name. Throws std::invalid_argument with the nearest name.
TaskKind task_named(std::string_view name);
LikelihoodKind likelihood_named(std::string_view name);

}  // namespace slimbayes
