#pragma once

#include <cstdint>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the i-th draw from Poisson(mean): the number of unit exponential gaps, drawn from stream.split(i),
/// that can be summed before the sum exceeds the mean. O(mean). Throws std::invalid_argument unless 0 <= mean
/// <= 1e9.
int64_t poisson_draw(double mean, const Stream& stream, uint64_t i);

/// Generates rows x, y, true_mean, true_sd with y ~ Poisson(exp(1.5 + sin 6x)) and x uniform on [-1, 1].
Table generate_counts(int64_t rows, const Stream& stream);

/// Generates events x1, x2 with true_intensity: a Poisson process on [0, 1] x [0, 2] with the intensity
/// rows / 2 (1 + 0.9 sin(2 pi x1) cos(pi x2)), by thinning (Lewis and Shedler 1979). `rows` is the expected
/// number of events; the actual number is random, and at least one.
Table generate_cox(int64_t rows, const Stream& stream);

}  // namespace slimbayes
