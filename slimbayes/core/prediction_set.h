#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/conformal.h"
#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Which classes are plausible at a level: the answer to "what can it be" as an interval is of a number. [n,
/// C] bool; a row without any says that no class is plausible at this level.
using PredictionSet = at::Tensor;

/// A number in (0, 1) for each row of inputs [n, ...], a function of the row's values alone: the
/// randomisation of a row's set is the same in every batch, in calibration and in prediction. [n] float64
at::Tensor row_uniforms(const at::Tensor& inputs);

/// The conformity score of the class y of each row: the probability of the classes more probable than y, plus
/// u times that of y (Romano, Sesia and Candes 2020, adaptive prediction sets); among equals the first class
/// is the more probable. y [n] class numbers, u [n] from row_uniforms. [n] Throws std::invalid_argument for
/// other shapes or classes.
at::Tensor set_scores(const Classes& p, const at::Tensor& y, const at::Tensor& u);

/// The classes whose score is at most conformal_factor(scores, level): a row that is exchangeable with the
/// calibration rows has its class in the set with probability of at least `level`, and at most 1 / (m + 1)
/// more. Throws as conformal_factor.
PredictionSet prediction_set(const Classes& p, const at::Tensor& u, const ConformalScores& scores,
                             double level);

/// coverage (the share of rows whose class is in their set), set_size (mean number of classes), empty (share
/// of rows without any). y [n] class numbers.
nlohmann::json set_report(const PredictionSet& set, const at::Tensor& y);

}  // namespace slimbayes
