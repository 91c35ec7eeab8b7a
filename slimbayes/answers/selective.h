#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Selective prediction: the model answers only the share of rows that it is most certain of, and the metrics
/// are those of the answered rows (Geifman and El-Yaniv, Selective classification for deep neural networks,
/// NeurIPS 2017). A useful score of uncertainty makes the error fall as fewer rows are kept.
///
/// Rows with equal scores are tied. If only some rows of a tie are kept, the result is the expectation over a
/// random choice among them. So the order of the rows has no effect, and a constant score gives the metric of
/// all rows at every share, with the same bits.
///
/// With weights [n], each > 0, a share is one of the total weight, and a row may be kept in part, as a row of
/// weight w is a tie of w equal rows. The kept weight is not rounded up to a whole row, so that the result
/// does not depend on the unit of the weights: whole weights equal repeated rows where the share of their sum
/// is whole.

/// The shares of rows that selective_report() keeps.
inline constexpr std::array<double, 7> kSharesKept = {1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7};

/// Returns how many of n rows are kept: the fewest that make up at least the share. Throws
/// std::invalid_argument unless 0 < share <= 1 and n > 0.
int64_t rows_kept(double share, int64_t n);

/// Returns for each share the mean loss of the kept rows, those with the smallest uncertainty. `uncertainty`
/// and `loss` have shape [n] and must be finite; they are computed with in float64, in O(n log n). The result
/// has the same bits for every order of the rows. Throws std::invalid_argument if the shapes differ, if there
/// are no rows, or as rows_kept(). [shares]
std::vector<double> selective_means(const at::Tensor& uncertainty, const at::Tensor& loss,
                                    const std::vector<double>& shares, const at::Tensor& weight = {});

/// Returns the metrics of the kept rows at the shares kSharesKept, for each score in `uncertainty` [n]; the
/// name of the score to look at first is empty. At the share 1 they are those of report()
/// (answers/answers.h). y [n] in the units of the predictive, classes as numbers. Throws
/// std::invalid_argument for an intensity, which has no target for each row.
SelectiveReport selective_report(const Predictive& p, const at::Tensor& y, const Scores& uncertainty,
                                 const at::Tensor& weight = {});

}  // namespace slimbayes
