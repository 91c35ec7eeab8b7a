#pragma once

#include <cstdint>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// Returns the i-th draw from Poisson(mean). It counts the events of a Poisson process with rate 1 up to the
/// time `mean`: the gaps between events are exponential with mean 1 and come from stream.split(i). O(mean).
/// Throws std::invalid_argument unless 0 <= mean <= 1e9.
int64_t poisson_draw(double mean, const Stream& stream, uint64_t i);

/// Generates the data set "counts": a table with the columns x, y, true_mean and true_sd, where x is uniform
/// on [-1, 1] and y ~ Poisson(exp(1.5 + sin 6x)).
Table generate_counts(int64_t rows, const Stream& stream);

/// Generates the data set "cox": the events of a Poisson process on [0, 1] x [0, 2], with the columns x1, x2
/// and true_intensity. The intensity is rows / 2 (1 + 0.9 sin(2 pi x1) cos(pi x2)); events are drawn by
/// thinning (Lewis and Shedler 1979). `rows` is the expected number of events; the actual number is random,
/// and at least one.
Table generate_cox(int64_t rows, const Stream& stream);

}  // namespace slimbayes
