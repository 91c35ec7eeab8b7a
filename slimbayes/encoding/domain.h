#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// One side of the box in which events are observed: coordinates from `low` to `high`.
struct Axis {
  double low = 0, high = 1;
};

/// Returns the axes in the text of --domain: "0:1,0:2" gives {0, 1} and {0, 2}. Throws std::invalid_argument
/// unless each axis is LOW:HIGH with finite LOW < HIGH and the volume lies in [1e-140, 1e140]: the variance
/// of an intensity contains the squared volume, which must not overflow.
SLIMBAYES_EXPORT std::vector<Axis> parse_domain(const std::string& text);

/// Returns the volume of the domain: the product of its sides, in the user's units.
SLIMBAYES_EXPORT double volume(const std::vector<Axis>& domain);

/// Returns an error message if the coordinate `value` is missing or lies outside the axis by more than 1e-9
/// of the axis's length, else "". `hint` is the advice in the message: what the user can change to make the
/// coordinate valid.
SLIMBAYES_EXPORT std::string fault_in_domain(const Column& column, double value, const Axis& axis,
                                             const char* hint);

/// Throws DataError for the first row of this column whose coordinate fault_in_domain rejects.
SLIMBAYES_EXPORT void check_inside(const Table& table, const Column& column, const Axis& axis);

}  // namespace slimbayes
