#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns a hash of each row's encoded inputs and target (XXH3-64), by which a row is recognised again. The
/// padding of a text does not count. [n]
std::vector<int64_t> row_hashes(const Dataset& data);

/// Returns a hash of the cells of each example that the encoder reads (XXH3-64): columns in the encoder's
/// order, numbers by their value (-0 is 0), categories and texts by their string, a missing cell as missing;
/// of a window the cells of its rows with their times and groups. Names that the encoding does not tell apart
/// (unknown words, categories that were not in training) differ here. The target counts as the user gave it.
/// Neither the order of the columns in the file nor that of the categories matters. The pixels of images are
/// left to row_hashes: their encoding keeps them apart. Throws as dataset_of with a target. [n]
std::vector<uint64_t> cell_hashes(const InputEncoder& encoder, const Examples& examples);

/// Returns row_hashes(data) that begin with the hash of each row's cells: equal only where both the cells and
/// the encoding are equal, so that rows with one hash have the same features. [n]
std::vector<int64_t> row_hashes(const Dataset& data, const std::vector<uint64_t>& cells);

/// Returns a hash of such hashes in their order (XXH3-64).
uint64_t hash_of_rows(const std::vector<int64_t>& hashes);

/// Returns hash_of_rows(row_hashes(data)). It does not see how a source varies its rows in training.
uint64_t rows_hash(const Dataset& data);

}  // namespace slimbayes
