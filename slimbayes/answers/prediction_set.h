#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The prediction sets of n rows: which of the C classes are plausible at a level, as an interval says which
/// numbers are. [n, C] bool, true for the classes in the set of a row. A set may be empty: no class is then
/// plausible at this level.
using PredictionSet = at::Tensor;

/// Returns one pseudo-random number in (0, 1) for each row of `inputs` [n, ...], by which prediction sets are
/// randomised. It depends only on the values of the row, so a row gets the same number in every batch, and in
/// calibration as in prediction. [n] float64
SLIMBAYES_EXPORT at::Tensor row_uniforms(const at::Tensor& inputs);

/// Returns the conformity score of each row for its class y: the sum of the probabilities of all classes that
/// are more probable than y, plus u times the probability of y (adaptive prediction sets; Romano, Sesia and
/// Candes 2020). Of equally probable classes the first counts as the more probable. y [n] class numbers,
/// u [n] from row_uniforms(). [n] Throws std::invalid_argument if a shape does not fit, if there are no rows,
/// or if y holds an invalid class number.
SLIMBAYES_EXPORT at::Tensor set_scores(const Classes& p, const at::Tensor& y, const at::Tensor& u);

/// Returns the prediction set of each row: the classes whose conformity score (see set_scores) is at most
/// conformal_factor(scores, level). `scores` are those of m calibration rows, u [n] comes from
/// row_uniforms(). If a row is exchangeable with the calibration rows, the probability that its set contains
/// its class is at least `level` and at most level + 1 / (m + 1). Throws std::invalid_argument as
/// conformal_factor() does.
SLIMBAYES_EXPORT PredictionSet prediction_set(const Classes& p, const at::Tensor& u,
                                              const ConformalScores& scores, double level);

/// Returns prediction sets that are not randomised, from the same calibration scores. The set of a row takes
/// the classes in descending order of probability, up to and including the one at which their sum crosses the
/// threshold conformal_factor(scores, level). It is never empty and contains the set that prediction_set()
/// gives for any u, so its coverage is at least the level; it may hold one class more than needed. Use it
/// where equal predictives must have equal sets. Throws std::invalid_argument as conformal_factor() does.
SLIMBAYES_EXPORT PredictionSet deterministic_set(const Classes& p, const ConformalScores& scores,
                                                 double level);

/// The metrics of prediction sets; with weights (answers/class_metrics.h) means and shares by them.
struct SetReport {
  double coverage;  // share of rows whose set contains their class
  double size;      // mean number of classes in a set
  double empty;     // share of rows with an empty set
};
/// Returns the metrics of these sets. y [n] class numbers.
SLIMBAYES_EXPORT SetReport set_report(const PredictionSet& set, const at::Tensor& y,
                                      const at::Tensor& weight = {});

}  // namespace slimbayes
