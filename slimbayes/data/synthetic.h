#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Returns the names of all generators, for generate().
SLIMBAYES_EXPORT const std::vector<std::string>& generator_names();

/// Generates a table of `rows` random rows whose true mean and noise are known, so that predictions can be
/// compared with the truth. "steps" and "ripple" have the columns x, y, true_mean and true_sd, with x ~ U[-1,
/// 1], s_i = sigmoid(200 (x - c_i)), c = -0.6, 0, 0.4, and g = 0.3 (1 - s1) + 0.9 (s1 - s2) - 0.6 (s2 - s3):
///   "steps"   mean g, noise sd amplitude |sin 10x| (section 4.1 of the paper called N in docs/references.md,
///             which states an amplitude of 2; but the NLLs that it reports match 0.4)
///   "ripple"  mean g + 0.01 sin(50 sin 10x), noise variance 0.01 (the 1-D data of the paper called E there)
///   "counts", "cox"  see synthetic_counts.h
/// Throws std::invalid_argument for an unknown name, rows < 1, or, for "steps" and "ripple", a negative or
/// non-finite amplitude.
SLIMBAYES_EXPORT Table generate(const std::string& name, int64_t rows, const Stream& stream,
                                double amplitude = 0.4);

}  // namespace slimbayes
