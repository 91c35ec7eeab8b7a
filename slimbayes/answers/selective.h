#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "slimbayes/answers/predictive.h"

namespace slimbayes {

/// Selective prediction: the model answers only the share of rows that it is most certain of, and the metrics
/// are those of the answered rows (Geifman and El-Yaniv, Selective classification for deep neural networks,
/// NeurIPS 2017). A useful score of uncertainty makes the error fall as fewer rows are kept.
///
/// Rows with equal scores are tied. If only some rows of a tie are kept, the result is the expectation over a
/// random choice among them. So the order of the rows has no effect, and a constant score gives the metric of
/// all rows at every share, with the same bits.

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
                                    const std::vector<double>& shares);

/// Returns the metrics of the kept rows, for each score in `uncertainty` [n], as a JSON object:
///   share, rows  lists with the shares kSharesKept and the numbers of rows that they keep
///   by           for each score an object of lists, one number for each share: accuracy and nll (classes),
///                or mae, rmse and nll (regression, counts). They are those of report() (answers/answers.h)
///                at the share 1: of a regression mae is the error of the median and rmse that of the mean,
///                of counts both are of the mean. rmse is the root of the expected squared error.
///                `gain` has for each metric the improvement from the first share to the last, positive if
///                the kept rows are better; `gain_share` has for mae and rmse the gain divided by the metric
///                of all rows, absent if that is 0. `constant` says whether the score is the same for all
///                rows, so that it selects none.
/// y [n] in the units of the predictive, classes as numbers. Throws std::invalid_argument for an intensity,
/// which has no target for each row.
nlohmann::json selective_report(const Predictive& p, const at::Tensor& y, const Scores& uncertainty);

}  // namespace slimbayes
