#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/noise_options.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/deep_kernel/focus_options.h"
#include "slimbayes/objectives/head_gradient.h"

namespace slimbayes {

/// The configuration of a variational deep kernel, f(x) = c + <w, phi(x)>: the network, the feature expansion
/// phi of its output, the variational posterior q(w) = N(m, L L^T), and the objective that trains them. The
/// methods dbk, vbll, sv-dkl, pp-dkl, sv-rbf and sv-dbk are values of this struct. N-4 is equation 4 of paper
/// N, E-12 equation 12 of paper E (docs/references.md).
struct DeepKernel {
  /// A term that is added to the epistemic variance ||L^T phi||^2. It stands for the part of the prior
  /// variance that the features phi do not represent. `kernel` applies in training and prediction, `largest`
  /// in prediction only.
  enum class Correction {
    none,    // nothing is added
    kernel,  // k~(x, x) - ||phi||^2 with k~ the kernel that inducing points approximate (N-4)
    largest  // max(M, ||phi||^2) - ||phi||^2 with M the largest ||phi||^2 of the training rows (E-12)
  };

  std::string method;      // name in the catalogue
  nlohmann::json options;  // every option of the method, for the model file
  /// Returns the network for rows of shape `input`. `tokens` is the size of the vocabulary for text, else 0.
  std::function<NetworkSpec(const Shape& input, int64_t tokens)> network;
  std::string basis;
  int64_t rank;
  HeadObjective objective;
  Correction correction = Correction::none;
  TrainingOptions training;
  NoiseOptions noise;
  FocusOptions focus = {0, 0};
};

/// Returns the exponent of the row weights at this step. The weight of a row is its predictive variance
/// raised to this exponent (Seitzer et al. 2022), so that rows with a large variance keep their gradient. The
/// exponent falls linearly from `focus` at the first step to 0 at step `focus_until` * `steps`. At exponent 0
/// all rows have the same weight.
double focus_at(const FocusOptions& focus, int64_t step, int64_t steps);

/// Returns the method that trains `kernel` with AdamW: network, head (expansion, q, offset) and noise. Weight
/// decay applies to the network only. The parameters with the best validation NLL are kept.
/// deep_kernel_training.cpp explains the training for each task.
std::unique_ptr<Method> deep_kernel_method(DeepKernel kernel);

/// Reads a fitted deep kernel from a model file. `kernel` must be made from the options in that file. Throws
/// DataError or std::invalid_argument for a file that does not fit.
std::unique_ptr<Fitted> load_deep_kernel(DeepKernel kernel, const TensorFile& file);

/// Returns the registry's row of the method `name`. `of` makes a deep kernel from the method's options.
RegistryRow deep_kernel_row(std::string_view name,
                            std::function<DeepKernel(const nlohmann::json& options)> of);

}  // namespace slimbayes
