#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// The names that generate() knows.
const std::vector<std::string>& generator_names();

/// Rows of synthetic data with the truth beside them. Of "steps" and "ripple" the columns are x, y, true_mean, true_sd:
///   "steps": N section 4.1, mean .3(1-s1) + .9(s1-s2) - .6(s2-s3), noise sd amplitude |sin 10x|, x ~ U[-1, 1];
///   "ripple": E's 1-D data, the same mean + .01 sin(50 sin 10x), noise variance .01;
///   "counts", "cox": synthetic_counts.h.
/// `amplitude` is the A of "steps" (N prints 2; its own NLLs fit 0.4). Throws std::invalid_argument for an unknown name.
Table generate(const std::string& name, int64_t rows, const Stream& stream, double amplitude = 0.4);

}  // namespace slimbayes
