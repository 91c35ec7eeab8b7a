#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "slimbayes/catalog/task.h"
#include "slimbayes/core/predictive.h"
#include "slimbayes/data/task.h"

namespace slimbayes {

/// What the outputs of a network are: the target of a regression, or the logits of classes. Every network's
/// model file holds its head.
struct Head {
  LikelihoodKind likelihood = LikelihoodKind::gaussian;
  int64_t outputs = 1;  // k, latent functions
  /// Of a Gaussian likelihood: the variance of the noise on the encoded target, the same for all rows. 0: the
  /// method has a noise of its own (deep kernels), or other likelihoods.
  double noise_var = 0;

  bool is_regression() const { return likelihood == LikelihoodKind::gaussian; }

  /// Returns the loss of each row: the squared error of a regression, the cross entropy of classes. Its mean
  /// chooses the parameters of a trained network. output [b, k], y [b]. [b]
  at::Tensor loss(const at::Tensor& output, const at::Tensor& y) const;

  /// Returns the answer of one network, without epistemic uncertainty. outputs [b, k] float64
  Predictive answer(const at::Tensor& outputs) const;
};

/// Returns the head of a network for this task, without noise.
Head head_of(const Task& task);

nlohmann::json to_json(const Head& head);
/// Throws std::invalid_argument for an unknown likelihood, a count or a noise out of range.
Head head_from_json(const nlohmann::json& json);

/// Throws std::invalid_argument, in the name of `function`, unless the head answers this task.
void check_head(const Head& head, const Task& task, std::string_view function, std::string_view hint = "");

}  // namespace slimbayes
