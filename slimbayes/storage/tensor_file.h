#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// Types of the elements of a stored array. The safetensors layout has more types; slimbayes files use these.
enum class StoredType { f64, f32, i64, i32, u8, boolean };

/// Returns the number of bytes of one element.
SLIMBAYES_EXPORT int64_t element_size(StoredType type);

/// An array as the file stores it: elements little-endian, in row-major order, without padding.
struct StoredTensor {
  StoredType type = StoredType::f64;
  std::vector<int64_t> shape;    // empty for a scalar
  std::vector<std::byte> bytes;  // product(shape) * element_size(type)
};

/// A model or checkpoint file in the safetensors layout: an 8-byte header length, a JSON header whose
/// `__metadata__` maps strings to strings, then the raw tensors. Reading it never executes code from the
/// file. In the file, arrays are sorted by element size, largest first, then by name. So equal content gives
/// equal bytes, and every array is aligned to its element size. Python readers that map the file into memory
/// need this alignment.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
  /// An object of this process that belongs to the contents and that no file holds, such as the module of a
  /// posterior (HostModule in nn/script_network.h). Written nowhere.
  std::any attached = {};
};

/// The version of the file layout that this code writes. The reader refuses files of a later version.
inline constexpr int kTensorFileVersion = 1;

/// Returns `file` as the bytes of a file in the safetensors layout. Adds the metadata keys `format_version`
/// and `checksum` (checksum_of). Throws std::invalid_argument if a tensor's bytes do not match its type and
/// shape, if a name or metadata text is not UTF-8, if a tensor is called `__metadata__`, or if file.metadata
/// already holds one of the two keys with another value.
SLIMBAYES_EXPORT std::vector<std::byte> to_bytes(const TensorFile& file);

/// Returns the metadata and tensors in bytes that to_bytes() wrote. The bytes may be untrusted. `name` is the
/// file's name in messages. Throws DataError if the file is truncated, bit-flipped, of a newer version, or
/// hostile (huge lengths, tensors that overlap, are out of order or leave gaps between them, duplicate keys,
/// unknown types, shapes that overflow). Never allocates more than a small multiple of the input. Checks the
/// metadata keys `format_version` and `checksum` and leaves them out of the result.
SLIMBAYES_EXPORT TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view name);

/// Reads the file at `path` and returns its content as parse_tensor_file does. Throws DataError also if the
/// file cannot be read.
SLIMBAYES_EXPORT TensorFile read_tensor_file(const std::filesystem::path& path);

/// Writes `file` to `path` in the safetensors layout (to_bytes), completely or not at all (write_atomically).
SLIMBAYES_EXPORT void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);

}  // namespace slimbayes
