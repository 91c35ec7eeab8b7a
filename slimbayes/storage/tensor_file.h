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

/// Bytes of one element.
int64_t element_size(StoredType type);

/// A named array as it lies in the file: little-endian, row-major, no padding.
struct StoredTensor {
  StoredType type = StoredType::f64;
  std::vector<int64_t> shape;    // empty: a scalar
  std::vector<std::byte> bytes;  // product(shape) * element_size(type)
};

/// A model or checkpoint file in the safetensors layout: an 8-byte header length, a JSON header whose
/// `__metadata__` maps strings to strings, then the raw tensors. Nothing in it is ever executed.
/// Arrays lie in order of element size, largest first, then by name: equal content gives equal bytes, and
/// every array is aligned to its elements, as the Python readers that map files want it.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
};

/// The layout's version that this build writes; a file with a larger one is refused.
inline constexpr int kTensorFileVersion = 1;

/// The bytes of a file. The metadata gain `format_version` and `checksum` (XXH3-128 over header and data,
/// the checksum's own digits counted as zeros). Throws std::invalid_argument when a tensor's bytes do not
/// match its type and shape, when a text is not UTF-8, when a tensor is called `__metadata__`, or when the
/// metadata already hold one of the two reserved keys with another value.
std::vector<std::byte> to_bytes(const TensorFile& file);

/// Reads what to_bytes wrote, from untrusted bytes. `name` stands in messages. Throws DataError when the file
/// is truncated, bit-flipped, of a newer version, or hostile (huge lengths, overlapping, unordered or
/// uncovered offsets, duplicate keys, unknown types, shapes that overflow). Never allocates more than a small
/// multiple of the input. The two reserved keys are checked and removed from the result's metadata.
TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view name);

/// parse_tensor_file of a file's content; DataError when it cannot be opened.
TensorFile read_tensor_file(const std::filesystem::path& path);

/// Writes to_bytes(file) atomically (write_atomically).
void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);

}  // namespace slimbayes
