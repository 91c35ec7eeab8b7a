#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/gaussian_options.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/training_options.h"
#include "slimbayes/families/method.h"
#include "slimbayes/objectives/head_gradient.h"

namespace slimbayes {

/// A variational deep kernel: network, expansion, q(w), and the objective that trains them. Its members
/// (dbk, vbll, sv-dkl, pp-dkl, sv-rbf, sv-dbk) differ in these values alone.
struct DeepKernel {
  /// The term added to the epistemic variance ||L^T phi||^2, where q(w) = N(m, L L^T), to make up for prior
  /// variance that the features lack. `kernel` applies in training and prediction; `largest` in prediction
  /// only.
  enum class Correction {
    none,    // nothing
    kernel,  // k~(x, x) - ||phi||^2 (N-4), for inducing points
    largest  // max(M, ||phi||^2) - ||phi||^2 with M the largest ||phi||^2 of the training rows (E-12); in
             // prediction alone
  };

  std::string method;      // its name
  nlohmann::json options;  // all of them, for the model file
  std::function<NetworkSpec(const Shape& input, int64_t tokens)> network;
  std::string basis;
  int64_t rank;
  HeadObjective objective;
  Correction correction = Correction::none;
  TrainingOptions training;
  NoiseOptions noise;
  FocusOptions focus = {0, 0};
};

/// The power of the predictive variance that weighs the rows of this step: falls linearly from `focus` to 0,
/// which is the objective itself.
double focus_at(const FocusOptions& focus, int64_t step, int64_t steps);

/// Trains it: AdamW on network, head (expansion, q, offset) and noise, weight decay on the network alone;
/// keeps the parameters with the best validation NLL (deep_kernel_training.cpp says how each task is
/// trained).
std::unique_ptr<Method> deep_kernel_method(DeepKernel kernel);

/// Reads it back; `kernel` is made from the file's options. Throws DataError or std::invalid_argument.
std::unique_ptr<Fitted> load_deep_kernel(DeepKernel kernel, const TensorFile& file);

}  // namespace slimbayes
