#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns a hash of each row's encoded inputs and target (XXH3-64). Use it to recognise rows that were seen
/// before. The padding of a text does not count. [n]
std::vector<int64_t> row_hashes(const Dataset& data);

/// Returns a hash, for each example, of the cells that the encoder reads and of the target in the user's
/// units (XXH3-64). Numbers count by their value (-0 is 0), categories and texts by their string. The hash of
/// a window covers the cells of its rows with their times and groups. So names with the same encoding
/// (unknown words, categories that were not in training) have different hashes. The order of the columns in
/// the file and that of the categories do not matter. The pixels of images are not hashed: different images
/// differ in their encoding, which row_hashes covers. Throws as dataset_of with a target. [n]
std::vector<uint64_t> cell_hashes(const InputEncoder& encoder, const Examples& examples);

/// Returns hashes of both the cells (cell_hashes) and the encoding of each row. Two are equal only if the
/// cells and the encoding are. [n]
std::vector<int64_t> row_hashes(const Dataset& data, const std::vector<uint64_t>& cells);

/// Returns one hash of a list of hashes, which depends on their order (XXH3-64).
uint64_t hash_of_rows(const std::vector<int64_t>& hashes);

/// Returns hash_of_rows(row_hashes(data)). It does not depend on the augmentation of training rows.
uint64_t rows_hash(const Dataset& data);

}  // namespace slimbayes
