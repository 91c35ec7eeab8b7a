#pragma once

#include <string>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/examples.h"

namespace slimbayes {

/// Returns the rows of a table, or windows, in which the cells of these columns of the table are dealt out
/// again among the examples, all columns in the same order, so that a row keeps what they say of each other.
/// For windows, whole stretches of several windows' length change places, so that neighbouring cells stay
/// together. Throws std::invalid_argument for images and for a column that the table does not have.
Examples permuted(const Examples& examples, const std::vector<std::string>& columns, const Stream& stream);

}  // namespace slimbayes
