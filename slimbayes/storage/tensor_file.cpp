// Reads and writes the model file: the safetensors layout with a checksum and a version.
//
//   8 bytes   length of the header, little-endian
//   header    JSON, padded with spaces to a multiple of 8 bytes
//   data      the arrays one after another, without gaps, in the header's order
//
// The bytes may be untrusted. The reader checks first the lengths, then the header's form, then version and
// checksum, then the layout of the arrays. It allocates memory only for bytes that are present, never for a
// size that the file merely claims. The checksum guards against accidents only: a hostile file may have a
// correct checksum, so no other check relies on it. Layout: https://huggingface.co/docs/safetensors. Reading
// and writing cost O(bytes) and make one copy of the data.

#include "slimbayes/storage/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <stdexcept>
#include <utility>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/checksum.h"
#include "slimbayes/storage/dtype.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_header.h"

namespace slimbayes {
namespace {

// ---- writing: from a TensorFile to bytes

void check_tensor(const std::string& name, const StoredTensor& tensor) {
  const auto refuse = [&](const std::string& message) {
    throw std::invalid_argument(fmt::format("[to_bytes] tensor {}: {}", json_quoted(name), message));
  };
  if (name == kMetadataName) refuse("this name is reserved; choose another");
  if (tensor.shape.size() > kMaxRank) {
    refuse(fmt::format("expected at most {} dimensions; received {}", kMaxRank, tensor.shape.size()));
  }
  const auto expected = byte_count(tensor.shape, tensor.type);
  if (!expected) refuse("expected dimensions that are not negative and a product below 2^63");
  if (std::cmp_not_equal(*expected, tensor.bytes.size())) {
    refuse(fmt::format("expected {} bytes by type and shape; received {}", *expected, tensor.bytes.size()));
  }
  if (!valid_elements(tensor.type, tensor.bytes)) {
    refuse("expected booleans stored as 0 or 1; received another byte");
  }
}

using Named = std::pair<const std::string, StoredTensor>;

// Returns the tensors in the order of the file: those with larger elements first, so that each array is
// aligned to its element size. Tensors with elements of one size are sorted by name.
std::vector<const Named*> in_file_order(const TensorFile& file) {
  std::vector<const Named*> order;
  for (const Named& named : file.tensors) order.push_back(&named);
  std::ranges::stable_sort(order, std::greater(),
                           [](const Named* named) { return element_size(named->second.type); });
  return order;
}

TensorHeader describe(const TensorFile& file, const std::vector<const Named*>& order) {
  TensorHeader header{file.metadata, {}};
  const std::string version = std::to_string(kTensorFileVersion);
  const auto given = header.metadata.emplace("format_version", version).first;
  if (given->second != version) {
    throw std::invalid_argument(fmt::format(
        "[to_bytes] expected no metadata key format_version, or {}; received {}; the layout's version is not "
        "the caller's to set",
        version, json_quoted(given->second)));
  }
  header.metadata["checksum"] = std::string(kChecksumDigits, '0');
  int64_t end = 0;
  for (const Named* named : order) {
    const auto& [name, tensor] = *named;
    check_tensor(name, tensor);
    const int64_t begin = end;
    end += static_cast<int64_t>(tensor.bytes.size());
    header.tensors.push_back({name, std::string(dtype_name(tensor.type)), tensor.shape, {begin, end}});
  }
  return header;
}

void put_length(uint64_t length, std::span<std::byte> out) {
  for (size_t i = 0; i < kLengthBytes; ++i) out[i] = static_cast<std::byte>(length >> (8 * i));
}

// ---- reading: from bytes to a TensorFile

void check_version(const TensorHeader& header, const std::string& name) {
  const auto found = header.metadata.find("format_version");
  const std::string text = found == header.metadata.end() ? "" : found->second;
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos && text[0] != '0';
  if (!digits) {
    throw DataError(name, "expected metadata format_version to be a whole number from 1; received " +
                              (text.empty() ? "nothing" : json_quoted(text)) + "; the file is damaged");
  }
  if (error != std::errc() || version > kTensorFileVersion) {
    throw DataError(name,
                    fmt::format("this build reads format versions 1 to {}; received version {}; upgrade "
                                "slimbayes to read this file",
                                kTensorFileVersion, text.substr(0, 20)));
  }
}

void check_checksum(std::span<const std::byte> bytes, std::string_view text, const std::string& digits,
                    const std::string& name) {
  // The digits must lie at kChecksumAt, because checksum_of takes the digits at that place as zeros.
  const std::string start = fmt::format("{}{}\"", kHeaderStart, digits);
  if (digits.size() != kChecksumDigits || !text.starts_with(start)) {
    throw DataError(name,
                    fmt::format("expected the checksum, {} digits, at the start of the header; received it "
                                "elsewhere or of another length; another program rewrote the file",
                                kChecksumDigits));
  }
  if (const std::string expected = checksum_of(bytes); digits != expected) {
    throw DataError(name,
                    fmt::format("expected the checksum {}; received {}; the file is damaged or was edited by "
                                "another program",
                                expected, json_quoted(digits)));
  }
}

// Checks the place of a tensor's data in the file. The data must begin at `end`, which is where the previous
// tensor's data end, have the length that dtype and shape require, and lie within the `available` bytes of
// data. All places count bytes after the header. Returns the end of this tensor's data. Throws DataError if
// a check fails.
int64_t check_entry(const TensorEntry& entry, int64_t end, int64_t available, const std::string& name) {
  const auto refuse = [&](const std::string& message) {
    throw DataError(name, fmt::format("tensor {}: {}", json_quoted(entry.name), message));
  };
  const auto type = find_dtype(entry.dtype);
  if (!type) {
    refuse("expected a dtype among F64, F32, I64, I32, U8, BOOL; received " + json_quoted(entry.dtype));
  }
  const auto expected = byte_count(entry.shape, *type);
  if (!expected) refuse("expected a shape whose bytes can be counted; its product overflows");
  const int64_t begin = entry.offsets[0], stop = entry.offsets[1];
  if (begin < end) refuse(fmt::format("expected data_offsets from {}; received {}: overlap", end, begin));
  if (begin > end) refuse(fmt::format("expected data_offsets from {}; received {}: a gap", end, begin));
  if (stop < begin) refuse(fmt::format("expected data_offsets in order; received {} and {}", begin, stop));
  if (stop - begin != *expected) {
    refuse(fmt::format("expected {} bytes by dtype and shape; received {}", *expected, stop - begin));
  }
  if (stop > available) {
    refuse(fmt::format("expected data up to byte {}; received {} bytes; the file is truncated", stop,
                       available));
  }
  return stop;
}

StoredTensor copy_tensor(const TensorEntry& entry, std::span<const std::byte> data, const std::string& name) {
  const auto part = data.subspan(static_cast<size_t>(entry.offsets[0]),
                                 static_cast<size_t>(entry.offsets[1] - entry.offsets[0]));
  const StoredType type = find_dtype(entry.dtype).value();
  if (!valid_elements(type, part)) {
    throw DataError(name, fmt::format("tensor {}: expected booleans stored as 0 or 1; received another byte",
                                      json_quoted(entry.name)));
  }
  return {type, entry.shape, {part.begin(), part.end()}};
}

}  // namespace

std::vector<std::byte> to_bytes(const TensorFile& file) {
  const auto order = in_file_order(file);
  const TensorHeader header = describe(file, order);
  std::string text = print_header(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    throw std::invalid_argument(
        fmt::format("[to_bytes] expected names and metadata of at most {} bytes; received {}",
                    kMaxHeaderBytes, text.size()));
  }
  const size_t data = header.tensors.empty() ? 0 : static_cast<size_t>(header.tensors.back().offsets[1]);
  std::vector<std::byte> bytes(kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + data);
  put_length(text.size(), bytes);
  const auto raw = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
  for (const Named* named : order) {
    bytes.insert(bytes.end(), named->second.bytes.begin(), named->second.bytes.end());
  }
  seal(bytes);
  if (const auto given = file.metadata.find("checksum"); given != file.metadata.end()) {
    if (const std::string right = checksum_of(bytes); given->second != right) {
      throw std::invalid_argument(
          fmt::format("[to_bytes] expected no metadata key checksum, or {}; received {}", right,
                      json_quoted(given->second)));
    }
  }
  return bytes;
}

TensorFile parse_tensor_file(std::span<const std::byte> bytes, std::string_view file_name) {
  const std::string name(file_name);
  const std::string_view text = header_text(bytes, name);
  TensorHeader header = parse_header(text, name);
  const auto digits = header.metadata.find("checksum");
  if (digits == header.metadata.end()) {
    throw DataError(name, "expected metadata with a checksum; received no checksum: not a slimbayes file");
  }
  check_version(header, name);
  check_checksum(bytes, text, digits->second, name);
  const auto data = bytes.subspan(kLengthBytes + text.size());
  const auto available = static_cast<int64_t>(data.size());
  int64_t end = 0;
  for (const TensorEntry& entry : header.tensors) end = check_entry(entry, end, available, name);
  if (end != available) {
    throw DataError(name, fmt::format("expected {} bytes of data; received {}: no tensor covers the rest",
                                      end, available));
  }
  TensorFile file{std::move(header.metadata), {}};
  file.metadata.erase("checksum");
  file.metadata.erase("format_version");
  for (TensorEntry& entry : header.tensors) {
    StoredTensor tensor = copy_tensor(entry, data, name);
    file.tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  return file;
}

TensorFile read_tensor_file(const std::filesystem::path& path) {
  return parse_tensor_file(read_bytes(path), path.string());
}

void write_tensor_file(const std::filesystem::path& path, const TensorFile& file) {
  write_atomically(path, to_bytes(file));
}

}  // namespace slimbayes
