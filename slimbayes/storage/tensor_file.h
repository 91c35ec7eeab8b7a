#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// Element types of the safetensors layout that the model file uses.
enum class StoredType { f64, f32, i64, i32, u8, boolean };

/// Returns the number of bytes of one element.
int64_t element_size(StoredType type);

/// An array as the file stores it: little-endian, row-major, without padding.
struct StoredTensor {
  StoredType type = StoredType::f64;
  std::vector<int64_t> shape;    // empty for a scalar
  std::vector<std::byte> bytes;  // product(shape) * element_size(type)
};

/// A model or checkpoint file in the safetensors layout: an 8-byte header length, a JSON header whose
/// `__metadata__` maps strings to strings, then the raw tensors. Reading it never executes code from the
/// file. Arrays are sorted by element size, largest first, then by name. So equal content gives equal bytes,
/// and every array is aligned to its element size, as Python readers need that map the file into memory.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
};

/// The version of the layout that this build writes. Files with a larger version are refused.
inline constexpr int kTensorFileVersion = 1;

/// Returns the bytes of a file. Adds the metadata `format_version` and `checksum` (XXH3-128 over header and
/// data, with the checksum's own digits read as zeros). Throws std::invalid_argument if a tensor's bytes do
/// not match its type and shape, if a name or metadata text is not UTF-8, if a tensor is called
/// `__metadata__`, or if the metadata already hold one of these two keys with another value.
std::vector<std::byte> to_bytes(const TensorFile& file);

/// Parses bytes that to_bytes() wrote. The bytes may be untrusted. `name` is the file's name in messages.
/// Throws DataError if the file is truncated, bit-flipped, of a newer version, or hostile (huge lengths,
/// tensors that overlap, are out of order or leave gaps between them, duplicate keys, unknown types, shapes
/// that overflow). Never allocates more than a small multiple of the input. Checks `format_version` and
/// `checksum` and leaves them out of the result.
TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view name);

/// Reads a file and parses it (parse_tensor_file). Also throws DataError if the file cannot be read.
TensorFile read_tensor_file(const std::filesystem::path& path);

/// Writes to_bytes(file) atomically (write_atomically).
void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);

}  // namespace slimbayes
