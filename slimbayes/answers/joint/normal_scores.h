#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace slimbayes {

/// The farthest normal score that the functions of several targets tell from farther ones. Beyond it a tail
/// holds less than 2^-54: a probability in float64 cannot be so near to 1 without being 1.
inline constexpr double kFarthestNormalScore = 8.3;

/// Normal scores within +-kFarthestNormalScore.
struct BoundedScores {
  at::Tensor z;     // the scores, float64; NaN where they were NaN, that is where a target is unknown
  int64_t far = 0;  // number of scores that were farther out and now stand at the bound
};

/// Returns the scores z, of any shape, with those beyond +-kFarthestNormalScore set to that bound.
/// normal_score (answers/density.h) is infinite for a target outside the range of its density, and up to 1e6
/// where a mixture extrapolates its tails. A Gaussian copula of such a score has no finite density, and a
/// single one would decide a correlation alone. The bound changes neither in a way that matters: under the
/// model such a score has a probability below 1e-16, so the bounded copula density still integrates to 1.
BoundedScores bounded_scores(const at::Tensor& z);

}  // namespace slimbayes
