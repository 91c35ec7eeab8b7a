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

/// One tensor as the JSON header of a safetensors file describes it. The numbers are not yet checked against
/// the file's size or against other tensors.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // {begin, end} in bytes, counted from the end of the header
};

/// The content of the JSON header: the metadata, and the descriptions of the tensors in the order of the
/// text.
struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;
};

/// The key under which the JSON header holds the metadata.
inline constexpr std::string_view kMetadataName = "__metadata__";

/// Limits for writing and reading: the largest header in bytes, and the largest number of dimensions of a
/// tensor. kMaxHeaderBytes is also the limit of the safetensors package for Python.
inline constexpr size_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kMaxRank = 32;

/// The number of bytes before the header, which hold its length.
inline constexpr size_t kLengthBytes = 8;

/// Returns the header as JSON text. The metadata come first, and the key `checksum` first among them, since
/// it must stand at a fixed place of the file (kChecksumAt). Throws std::invalid_argument for text that is
/// not UTF-8.
std::string print_header(const TensorHeader& header);

/// Parses an untrusted JSON header. The text must be a JSON object. Its key `__metadata__`, if present, must
/// hold an object of strings. Each other key is a tensor's name and must hold an object with exactly the keys
/// dtype, shape and data_offsets. Throws DataError for anything else, including duplicate keys and negative,
/// fractional or huge numbers. `file` is the file's name in messages.
TensorHeader parse_header(std::string_view json, std::string_view file);

/// Returns the text of the header in the bytes of a file, or in its first bytes. Throws DataError if they are
/// too few or not those of a safetensors file. `name` is the file's name in messages.
std::string_view header_text(std::span<const std::byte> bytes, const std::string& name);

/// Reads the header of the file at `path`, and no tensor. The checksum is not compared, because it covers the
/// whole file. Throws DataError as read_bytes, header_text and parse_header.
TensorHeader read_header(const std::filesystem::path& path);

/// Returns untrusted text in a form that is safe in a message: in double quotes, in ASCII, with control and
/// non-ASCII characters escaped, cut after 60 bytes.
std::string json_quoted(std::string_view text);

}  // namespace slimbayes
