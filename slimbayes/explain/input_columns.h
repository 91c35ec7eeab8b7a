#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/input_encoder.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// An input column of a model, and its cells in a table of examples.
struct InputColumn {
  const Encoder::Feature* feature;  // of the encoder; that of the target in windows stands for its past
  const Column* cells;              // of the table
};

/// Returns the input columns of a model of tables or of windows whose cells `cells` has, in the encoder's
/// order. Columns that the encoder dropped are none. Empty for images and text. The result points into both
/// arguments.
std::vector<InputColumn> input_columns(const InputEncoder& encoder, const Table& cells);

/// Returns at most `most` of the indices 0 to n - 1, evenly spaced.
std::vector<int64_t> spaced(int64_t n, int64_t most);

}  // namespace slimbayes
