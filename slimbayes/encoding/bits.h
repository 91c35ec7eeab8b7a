#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

// Columns of two values that mean yes and no. A file, a frame and the reader of either spell them as they
// like: yes and no, TRUE and FALSE, booleans, 1 and 0. What was trained on one of these takes the others.

/// How the cells of such a column were in training.
struct TrainedBits {
  ColumnKind kind;                       // numeric: 0 and 1
  std::vector<std::string> levels = {};  // of a categorical column
};

/// Returns whether a column of categories with these levels holds two values that mean yes and no, or one.
bool are_bits(const std::vector<std::string>& levels);

/// Returns the column as training had it, if its cells mean yes and no and are written or stored in another
/// way. Returns nullopt for a column that is as in training, and for one with another cell.
std::optional<Column> bits_as(const Column& column, const TrainedBits& trained);

}  // namespace slimbayes
