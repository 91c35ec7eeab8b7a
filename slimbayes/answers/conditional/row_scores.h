#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "slimbayes/answers/prediction_set.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// What each of n rows scores, [n] float64. A tensor is undefined where the kind of answer has no such score.
struct RowScores {
  at::Tensor covered;        // 1 for a target inside its interval or a class in its set, else 0
  at::Tensor size;           // width of the interval, or number of classes in the set
  at::Tensor nll;            // nats
  at::Tensor squared_error;  // of the mean; of numbers and counts
  at::Tensor right;          // 1 if the most probable class is the true one, else 0
  at::Tensor weight;         // each > 0; undefined: each row counts once
  /// The most by which rounding may have changed a size: widths that differ by less are equal.
  double size_error = 0;

  int64_t rows() const { return nll.size(0); }
};

/// Returns the scores of the rows of a predictive with the targets y [n]. `interval` are the intervals of
/// numbers or counts, `set` the sets of classes [n, C]; without them nothing is covered and has a size.
/// `weight` [n] as in answers/metrics.h. Throws std::invalid_argument for an intensity and for shapes that do
/// not match.
RowScores row_scores(const Predictive& p, const at::Tensor& y, const std::optional<Interval>& interval,
                     const std::optional<PredictionSet>& set, const at::Tensor& weight = {});

/// Returns those scores of the rows with these indices [m] int64.
RowScores take(const RowScores& scores, const at::Tensor& rows);

}  // namespace slimbayes
