#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns a hash of each row's encoded inputs and target (XXH3-64), by which a row is recognised again. The
/// padding of a text does not count. [n]
std::vector<int64_t> row_hashes(const Dataset& data);

/// Returns a hash of such hashes in their order (XXH3-64).
uint64_t hash_of_rows(const std::vector<int64_t>& hashes);

/// Returns hash_of_rows(row_hashes(data)). It does not see how a source varies its rows in training.
uint64_t rows_hash(const Dataset& data);

}  // namespace slimbayes
