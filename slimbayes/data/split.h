#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/row_groups.h"
#include "slimbayes/data/split_options.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// The parts of a split: row indices, each list in ascending order.
struct SplitRows {
  std::vector<int64_t> train, valid, test;
  /// Used by no fit and no choice; intervals are calibrated on these rows.
  std::vector<int64_t> calibration = {};
  std::vector<std::string> notes = {};  // sentences about how identical inputs affected the split
};

/// Splits the rows at random; the same stream gives the same split. The test and validation rows are the same
/// with and without a calibration part. A group stays whole, so the last group of a part may make the part
/// too large: by at most a sixth of the number of training rows, and by at most twice the size of the
/// smallest part. Throws std::invalid_argument for no rows, fractions outside [0, 1), a sum of 1 or more, an
/// unknown kind, if no training row would be left, or if "grouped" has no group that can be held out.
SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream);

/// Splits examples at random when identical ones are already known; `alike` is as in row_groups.
SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options, const Stream& stream);

}  // namespace slimbayes
