#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

/// The safetensors name of a type ("F64"), and the type of a name: nothing for a name that we do not use.
std::string_view dtype_name(StoredType type);
std::optional<StoredType> find_dtype(std::string_view name);

/// Bytes of an array. Nothing for a negative dimension, or when the dimensions other than 0 overflow (their
/// strides would overflow too).
std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, StoredType type);

/// Whether every element is a valid value of its type: a boolean must be 0 or 1; any bit pattern is a valid
/// number.
bool valid_elements(StoredType type, std::span<const std::byte> bytes);

}  // namespace slimbayes
