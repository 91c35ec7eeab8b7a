#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

/// What a network's outputs mean, as data: the target of a regression, the logits of classes, or the log rate
/// of counts. The model file of every network holds it. Deep kernels store one too, without using it for
/// events. `Head` (method/head.h) computes losses and answers with it.
struct HeadSpec {
  LikelihoodKind likelihood = LikelihoodKind::gaussian;
  int64_t outputs = 1;  // k, the number of latent functions
  /// For a Gaussian likelihood: the noise variance on the encoded target, equal for all rows. 0 for other
  /// likelihoods and for methods that keep their noise elsewhere (deep kernels).
  double noise_var = 0;

  bool is_regression() const { return task_of(likelihood) == TaskKind::regression; }
  bool is_classes() const {
    return likelihood == LikelihoodKind::bernoulli || likelihood == LikelihoodKind::softmax;
  }
};

/// Returns the head of a network for this task, with a noise variance of 0: training sets it.
HeadSpec head_spec_of(const Task& task);

nlohmann::json to_json(const HeadSpec& head);
/// Throws std::invalid_argument for an unknown likelihood, or a number of outputs or a noise out of range.
HeadSpec head_spec_from_json(const nlohmann::json& json);

/// Throws std::invalid_argument unless the network's output is a vector of head.outputs numbers or, for
/// classes, an image with that many channels. The message begins with `method`. Use it for a network from a
/// model file.
void check_outputs(const HeadSpec& head, const NetworkSpec& spec, std::string_view method);

/// Throws std::invalid_argument unless the head has the likelihood and the number of outputs of this task.
/// The message begins with `function` and ends with `hint`, an advice to the user.
void check_head(const HeadSpec& head, const Task& task, std::string_view function,
                std::string_view hint = "");

}  // namespace slimbayes
