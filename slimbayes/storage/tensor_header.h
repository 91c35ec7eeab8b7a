#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// One tensor as the JSON header of a safetensors file describes it. The numbers are not yet checked against
/// the file's size or against other tensors.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // {begin, end} in bytes, counted from the end of the header
};

/// The JSON header: `__metadata__`, and the tensors in the order of the header's text.
struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;
};

/// The header's key of the metadata.
inline constexpr std::string_view kMetadataName = "__metadata__";

/// Largest header in bytes and largest number of dimensions, for writing and reading. kMaxHeaderBytes is the
/// limit of the safetensors Python package.
inline constexpr size_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kMaxRank = 32;

/// Returns the header as JSON text. The metadata come first, and `checksum` first among them. Throws
/// std::invalid_argument for text that is not UTF-8.
std::string print_header(const TensorHeader& header);

/// Parses an untrusted JSON header. The text must be an object of tensor objects with exactly the keys dtype,
/// shape and data_offsets; `__metadata__`, if present, must be an object of strings. Throws DataError for
/// anything else, including duplicate keys and negative, fractional or huge numbers. `file` is the file's
/// name in messages.
TensorHeader parse_header(std::string_view json, std::string_view file);

/// Formats untrusted text for a message: quoted, in ASCII, with control characters escaped, cut at 60 bytes.
std::string json_quoted(std::string_view text);

}  // namespace slimbayes
