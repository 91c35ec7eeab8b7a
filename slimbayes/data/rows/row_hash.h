#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/input_encoder.h"

namespace slimbayes {

/// Returns a hash of the encoded inputs and target of each row, [n] (XXH3, 64 bits). Use it to recognise rows
/// that were seen before. The padding of a text is not hashed.
std::vector<int64_t> row_hashes(const Dataset& data);

/// Returns a hash of the cells that the encoder reads and of the target in the user's units, for each
/// example, [n] (XXH3, 64 bits). Numbers are hashed by value (-0 is 0), categories and texts as strings. So
/// words and categories that the encoder does not know have different hashes, although they have the same
/// encoding. The hash of a window covers the cells of its rows and their times and groups. The order of the
/// columns in the file and the order of the categories do not matter.
/// The pixels of images are not hashed, because different images always have different encodings, which
/// row_hashes covers. Throws as dataset_of with a target.
std::vector<uint64_t> cell_hashes(const InputEncoder& encoder, const Examples& examples);

/// Returns a hash of the encoding and the cells of each row, [n]: two rows have the same hash only if both
/// are equal. `cells` is the result of cell_hashes for these rows.
std::vector<int64_t> row_hashes(const Dataset& data, const std::vector<uint64_t>& cells);

/// Returns one hash of a list of row hashes, for example of a whole dataset (XXH3, 64 bits). It depends on
/// their order.
uint64_t hash_of_rows(const std::vector<int64_t>& hashes);

/// Returns one hash of the encoded inputs and targets of all rows, in their order. Use it to recognise a
/// dataset. Augmentation of training rows does not change it.
uint64_t rows_hash(const Dataset& data);

}  // namespace slimbayes
