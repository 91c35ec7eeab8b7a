#pragma once

#include <cstdint>
#include <vector>

namespace slimbayes {

/// Returns the indices of the wild cells of a column, ascending: those that lie farther out than the tail of
/// the other cells can reach, as 1e6 among numbers from 9 to 73. NaN is no cell; all others must be finite.
///
/// Cells above and below the median are judged by themselves. The farthest are wild if, from one cell to the
/// next, the distance to the median jumps by more than the factor `least_jump` (> 1), and by more than a
/// Pareto tail of the cells below would in one of 1,000 columns. At most 2 % of the cells (at least one) are
/// wild on each side. None is wild if fewer than four cells below the jump differ from the median. O(n).
std::vector<int64_t> wild_cells(const std::vector<double>& values, double least_jump);

}  // namespace slimbayes
