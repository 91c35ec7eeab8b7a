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
/// or nothing for a name that is not a StoredType.
std::string_view dtype_name(StoredType type);
std::optional<StoredType> find_dtype(std::string_view name);

/// Returns the number of bytes of an array. Returns nothing for a negative dimension, and if the product of
/// the non-zero dimensions overflows (the strides would overflow too, even in an empty array).
std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, StoredType type);

/// Returns whether every element is valid for its type. A boolean must be 0 or 1; every bit pattern is a
/// valid number.
bool valid_elements(StoredType type, std::span<const std::byte> bytes);

}  // namespace slimbayes
