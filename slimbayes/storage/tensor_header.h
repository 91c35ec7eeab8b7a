#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// One tensor as the JSON header of a safetensors file describes it; the numbers are not yet compared with
/// anything.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // begin, end: bytes after the header
};

/// The header: `__metadata__` and the tensors in the order of the file.
struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;
};

/// The name under which the header keeps its metadata.
inline constexpr std::string_view kMetadataName = "__metadata__";

/// Longest header and highest rank, in writing and in reading. The first is the limit of the Python package.
inline constexpr size_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kMaxRank = 32;

/// The JSON text; metadata first and `checksum` first among them. Throws std::invalid_argument for text that
/// is not UTF-8.
std::string print_header(const TensorHeader& header);

/// Reads untrusted JSON. Throws DataError for anything but an object of tensor objects with exactly dtype,
/// shape and data_offsets, and one object of strings; duplicate keys, negative, fractional and huge numbers
/// among it.
TensorHeader parse_header(std::string_view json, std::string_view file);

/// Untrusted text for a message: quoted, ASCII, control characters escaped, cut when long.
std::string json_quoted(std::string_view text);

}  // namespace slimbayes
