#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table.h"

namespace slimbayes {

/// One axis of the box in which events are observed.
struct Axis {
  double low = 0, high = 1;
};

/// "0:1,0:2" -> {0, 1}, {0, 2}. Throws std::invalid_argument unless every axis is two finite numbers, the lower first, and
/// their volume, its inverse and the squares of both are numbers of double precision.
std::vector<Axis> parse_domain(const std::string& text);

/// Product of the sides, in the user's units.
double volume(const std::vector<Axis>& domain);

/// What is wrong with a coordinate that is missing or outside the axis; empty for one inside.
std::string fault_in_domain(const Column& column, double value, const Axis& axis);

/// Throws DataError for the first row whose coordinate is missing or outside the axis.
void check_inside(const Table& table, const Column& column, const Axis& axis);

}  // namespace slimbayes
