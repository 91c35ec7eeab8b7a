#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/encoding/head_spec.h"

namespace slimbayes {

/// The head of a network (HeadSpec) with its loss and its answer.
struct Head : HeadSpec {
  /// Returns the loss of each row: the squared error of a regression, or -log P(y) of classes and counts.
  /// Training keeps the parameters with the least mean loss on the validation rows. `smoothing` replaces the
  /// label of a class row by a distribution: the class y has the probability 1 - smoothing, and all classes
  /// share the rest equally (Szegedy et al. 2016). It is for the training loss; other tasks ignore it. output
  /// [b, k], y [b]. [b]
  at::Tensor loss(const at::Tensor& output, const at::Tensor& y, double smoothing = 0) const;

  /// Returns the answer of a single network from its outputs float64 on the CPU, [b, k] or, for
  /// segmentation, [b, k, h, w], whose pixels are the rows of the answer. Its epistemic uncertainty is 0.
  Predictive answer(const at::Tensor& outputs) const;
};

/// Returns the head of a network for this task, with a noise variance of 0: training sets it.
Head head_of(const Task& task);

/// Throws as head_spec_from_json.
Head head_from_json(const nlohmann::json& json);

}  // namespace slimbayes
