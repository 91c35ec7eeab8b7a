#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// One axis of the box in which events are observed.
struct Axis {
  double low = 0, high = 1;
};

/// Parses "0:1,0:2" as {0, 1}, {0, 2}. Throws std::invalid_argument unless each axis is LOW:HIGH with finite
/// LOW < HIGH and the volume lies in [1e-140, 1e140]: the variance of an intensity contains the squared
/// volume, which must not overflow.
std::vector<Axis> parse_domain(const std::string& text);

/// Returns the volume of the domain: the product of its sides, in the user's units.
double volume(const std::vector<Axis>& domain);

/// Returns an error message if the coordinate is missing or outside the axis by more than 1e-9 of its length,
/// else "". `hint` says what the user can change to make the coordinate valid.
std::string fault_in_domain(const Column& column, double value, const Axis& axis, const char* hint);

/// Throws DataError for the first row whose coordinate is missing or outside the axis.
void check_inside(const Table& table, const Column& column, const Axis& axis);

}  // namespace slimbayes
