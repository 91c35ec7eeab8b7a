#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/split/row_groups.h"
#include "slimbayes/data/split/split_options.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// The parts of a split: row indices, each list in ascending order.
struct SplitRows {
  std::vector<int64_t> train, valid, test;
  /// Rows for the calibration of intervals. They are used neither in training nor for the choice of
  /// parameters.
  std::vector<int64_t> calibration = {};
  std::vector<std::string> notes = {};  // sentences about how identical inputs affected the split
  /// Of a table that is read piece by piece (data/stream/streamed_table.h): the number of its training rows,
  /// of which `train` lists a sample that is in memory, or none in a model that was read from its file.
  /// Else 0.
  int64_t streamed = 0;
  std::string network_note = {};  // of a fit that takes its network from another: from which; else ""
};

/// Returns the number of training rows.
inline int64_t train_rows(const SplitRows& split) {
  return split.streamed > 0 ? split.streamed : std::ssize(split.train);
}

/// Splits the rows of a table at random; the same stream gives the same split. The test and validation rows
/// are the same with and without a calibration part. Rows with identical inputs normally form a group, which
/// stays in one part (see SplitOptions::kind). So the last group of a part may make the part larger than
/// asked, by at most a sixth of the number of training rows and at most twice the size of the smallest part.
/// Throws std::invalid_argument for no rows, fractions outside [0, 1), a sum of 1 or more, an unknown kind,
/// folds that are not from 2 to the number of rows, if no training row would be left, or if with "grouped"
/// every group is too large to be held out.
SLIMBAYES_EXPORT SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream);

/// Splits examples at random that are already compared: alike[i] is the number of the group of examples that
/// are identical to example i (see row_groups).
SLIMBAYES_EXPORT SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options,
                                      const Stream& stream);

}  // namespace slimbayes
