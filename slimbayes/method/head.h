#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/task.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

/// What a network's outputs mean: the target of a regression, the logits of classes, or the log rate of
/// counts. The model file of every network holds its head. Deep kernels store one too; for events loss() and
/// answer() are not used.
struct Head {
  LikelihoodKind likelihood = LikelihoodKind::gaussian;
  int64_t outputs = 1;  // k, the number of latent functions
  /// For a Gaussian likelihood: the noise variance on the encoded target, equal for all rows. 0 for other
  /// likelihoods and for methods that keep their noise elsewhere (deep kernels).
  double noise_var = 0;

  bool is_regression() const { return task_of(likelihood) == TaskKind::regression; }
  bool is_classes() const {
    return likelihood == LikelihoodKind::bernoulli || likelihood == LikelihoodKind::softmax;
  }

  /// Returns the loss of each row: the squared error of a regression, or -log P(y) of classes and counts.
  /// Training keeps the parameters with the least mean loss on the validation rows. `smoothing` replaces the
  /// label of a class row by a distribution: the class y has the probability 1 - smoothing, and all classes
  /// share the rest equally (Szegedy et al. 2016). It is for the training loss; other tasks ignore it. output
  /// [b, k], y [b]. [b]
  at::Tensor loss(const at::Tensor& output, const at::Tensor& y, double smoothing = 0) const;

  /// Returns the answer of a single network from its outputs float64, [b, k] or, for segmentation, [b, k, h,
  /// w], whose pixels are the rows of the answer. Its epistemic uncertainty is 0.
  Predictive answer(const at::Tensor& outputs) const;
};

/// Returns the head of a network for this task, with a noise variance of 0: training sets it.
Head head_of(const Task& task);

nlohmann::json to_json(const Head& head);
/// Throws std::invalid_argument for an unknown likelihood, or a number of outputs or a noise out of range.
Head head_from_json(const nlohmann::json& json);

/// Throws std::invalid_argument unless the network ends in the head's outputs, as a vector or for each pixel
/// of an image. `method` is the name in the message. Use it for a network from a model file.
void check_outputs(const Head& head, const NetworkSpec& spec, std::string_view method);

/// Throws std::invalid_argument unless the head has the likelihood and the number of outputs of this task.
/// The message begins with `function` and ends with `hint`, an advice to the user.
void check_head(const Head& head, const Task& task, std::string_view function, std::string_view hint = "");

}  // namespace slimbayes
