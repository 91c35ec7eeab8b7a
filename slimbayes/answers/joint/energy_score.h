#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// Returns the energy score of each row, which generalises the CRPS to several targets (Gneiting and Raftery
/// 2007, Strictly proper scoring rules, eq. 22, with exponent 1): with draws x_s of the joint answer
///   mean_s |x_s - y| - 1/2 mean_(s != t) |x_s - x_t|,
/// where |.| is the Euclidean norm. Smaller is better. The second mean is over the S (S - 1) pairs of
/// different draws, so that the score is an unbiased estimate of that of infinitely many draws; a single one
/// can be negative. For one target its expectation is the CRPS.
///
/// draws [S, n, k] with S >= 2, finite; y [n, k], NaN where a target is unknown: that coordinate is left out
/// of the norms of its row. The coordinates should have comparable scales: divide each target and its draws
/// by its sd. Time O(S^2 n k), memory O(S k) beside the arguments for each thread. Throws
/// std::invalid_argument if the shapes do not match, a number is infinite, or a row has no known target. [n]
/// float64
at::Tensor energy_row_score(const at::Tensor& draws, const at::Tensor& y);

}  // namespace slimbayes
