#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Returns the weight of each class in the loss, for the option class_weights. For segmentation the rows are
/// the labelled pixels. "balanced": n / (C n_c) for n rows, C classes that have rows and n_c rows of class
/// c, so that the weights of all rows sum to n and those of each such class to n / C; 0 for a class without
/// rows. A row with a weight (Batch::weight) counts as so many rows. "none": undefined, every class counts
/// alike. Float32, on the device of the rows. [C] Throws std::invalid_argument if the task of `rows` is not
/// a classification and `kind` is not "none"; `method` is the name in the message.
at::Tensor class_weights(const std::string& kind, const Dataset& rows, std::string_view method,
                         const Collective* ranks);

/// Throws std::invalid_argument if the option label_smoothing is above 0 and the task is not a
/// classification. `method` is the name in the message.
void check_label_smoothing(double share, const Task& task, std::string_view method);

/// Returns the loss of each row [b] times the weight of its class y [b]. If `weights` is undefined, returns
/// the loss itself.
at::Tensor weighted(const at::Tensor& loss, const at::Tensor& y, const at::Tensor& weights);

/// Returns the mean over rows of -log P(y), each times the weight of its class. y [n], `weights` [C]. The
/// mean is by the weights `of_rows` [n] (weighted_mean), or counts every row once if they are undefined.
double weighted_nll(const Classes& p, const at::Tensor& y, const at::Tensor& weights,
                    const at::Tensor& of_rows = {});

}  // namespace slimbayes
