#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>

#include "slimbayes/core/conformal.h"
#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// The classes that are plausible at a level: what an interval is for a number, a prediction set is for a
/// class. [n, C] bool; a row that is false everywhere says that no class is plausible at this level.
using PredictionSet = at::Tensor;

/// Returns one pseudo-random number in (0, 1) per row of inputs [n, ...], for the randomisation of prediction
/// sets. The number is a function of the row's values alone, so a row gets the same number in every batch, in
/// calibration and in prediction. [n] float64
at::Tensor row_uniforms(const at::Tensor& inputs);

/// Returns the conformity score of the class y of each row: the sum of the probabilities of the classes more
/// probable than y, plus u times the probability of y (Romano, Sesia and Candes 2020, adaptive prediction
/// sets). Among equal probabilities the first class counts as the more probable one. y [n] class numbers,
/// u [n] from row_uniforms. [n] Throws std::invalid_argument for other shapes, no rows, or invalid class
/// numbers.
at::Tensor set_scores(const Classes& p, const at::Tensor& y, const at::Tensor& u);

/// Returns the set of classes whose score is at most conformal_factor(scores, level), for each row. If a row
/// is exchangeable with the m calibration rows, its set contains its class with probability of at least
/// `level`, and at most 1 / (m + 1) more. u [n] from row_uniforms. Throws under the same conditions as
/// conformal_factor.
PredictionSet prediction_set(const Classes& p, const at::Tensor& u, const ConformalScores& scores,
                             double level);

/// Returns the set without randomisation, for the same scores: the classes in order of their probability, up
/// to and including the one at which the sum of probabilities crosses the threshold. It contains
/// prediction_set() for every u. So its coverage is at least the level, it may hold one class more than
/// needed, and it is never empty. Use it where equal answers must have equal sets. Throws as prediction_set.
PredictionSet deterministic_set(const Classes& p, const ConformalScores& scores, double level);

/// Reports `coverage` (the share of rows whose set contains their class), `set_size` (the mean number of
/// classes in a set) and `empty` (the share of rows with an empty set). y [n] class numbers.
nlohmann::json set_report(const PredictionSet& set, const at::Tensor& y);

}  // namespace slimbayes
