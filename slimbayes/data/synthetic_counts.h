#pragma once

#include <cstdint>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// The i-th draw from Poisson(mean): how many exponential gaps of the stream's child i fit below the mean.
/// O(mean). Throws std::invalid_argument unless 0 <= mean <= 1e9.
int64_t poisson_draw(double mean, const Stream& stream, uint64_t i);

/// Rows x, y, true_mean, true_sd: y ~ Poisson(exp(1.5 + sin 6x)), x uniform on [-1, 1].
Table generate_counts(int64_t rows, const Stream& stream);

/// Events x1, x2 with true_intensity, of a Poisson process on [0, 1] x [0, 2] whose intensity is rows / 2 (1
/// + 0.9 sin(2 pi x1) cos(pi x2)): `rows` is the expected number of events, theirs is random. By thinning
/// (Lewis and Shedler 1979). At least one event.
Table generate_cox(int64_t rows, const Stream& stream);

}  // namespace slimbayes
