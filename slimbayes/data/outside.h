#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/encoder.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

/// How far a table's rows lie from the training rows, column by column, over those that are numbers, booleans
/// or dates. A missing cell is imputed with the training mean and so lies inside.
struct Outside {
  struct Beyond {
    std::string name;
    int64_t rows = 0;     // outside the training range
    int64_t row = 0;      // the farthest of them, in the table at hand
    double farthest = 0;  // in half-ranges beyond the range
  };
  int64_t rows = 0;             // outside the training range of some column
  std::vector<Beyond> columns;  // the farthest first; those with rows outside alone
  std::vector<double>
      beyond;  // [n] largest distance over the columns, in half-ranges beyond the training range; 0 inside
  std::vector<double> distance;  // [n] root mean square over the columns of (x - training mean) / training sd
};

/// Measures how far each row of `table` lies from the training rows. A distance below 1e-6 half-ranges is
/// rounding and counts as inside; one that overflows is set to the largest double. Returns nullopt where no
/// column has a stored training range: for events (their domain is given), where all inputs are
/// categorical, and for models saved by older versions. Throws std::invalid_argument for a missing column.
std::optional<Outside> outside(const Encoder& encoder, const Table& table);

/// "3 of 60 rows lie outside the training range: 'size' (3 rows; data row 7 lies 43.2 half-ranges beyond),
/// ...". Empty where none does.
std::string outside_text(const Outside& far, const Table& table);

}  // namespace slimbayes
