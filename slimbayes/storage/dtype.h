#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// dtype_name returns the safetensors name of a type, such as "F64". find_dtype returns the type of a name,
/// or nullopt for a name that stands for no StoredType.
std::string_view dtype_name(StoredType type);
std::optional<StoredType> find_dtype(std::string_view name);

/// Returns the number of bytes of an array of this shape and type. Returns nullopt if a dimension is
/// negative, or if the bytes computed from the non-zero dimensions alone overflow int64_t. The latter applies
/// to an empty array too, because its strides would overflow.
std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, StoredType type);

/// Returns whether `bytes`, the elements of an array, are valid for their type: each boolean must be 0 or 1.
/// For types of numbers it is always true.
bool valid_elements(StoredType type, std::span<const std::byte> bytes);

}  // namespace slimbayes
