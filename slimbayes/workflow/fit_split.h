#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split.h"
#include "slimbayes/workflow/fit_data.h"
#include "slimbayes/workflow/resolved_fit.h"

namespace slimbayes {

/// The examples of a fit, dealt into parts.
struct DealtExamples {
  SplitRows split;
  std::vector<int64_t> calibration_groups;  // group of each calibration row; empty without calibration
  bool grouped = false;  // rows of a table with identical inputs stay together: they count once as evidence
};

/// The second stage of a fit: decides which examples train, validate, calibrate and test. Training has each
/// class. The notes of the split say what was decided. Throws std::invalid_argument if a part is too small:
/// fewer than two training rows or than a rank that the user set, or too few groups to calibrate with.
DealtExamples deal_examples(const ResolvedFit& request, const FitData& data);

}  // namespace slimbayes
