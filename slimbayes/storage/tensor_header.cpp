// Reads and writes the JSON header of a safetensors file. The text may be untrusted.
//
// The text is not parsed into a JSON document: a document keeps only the last of duplicate keys and so hides
// them, and deep nesting would make it large. Instead, the parser reports events (an object begins, a key, a
// number), and HeaderReader checks each. A valid text has three levels: the header, in it the metadata and
// the tensors, in a tensor lists of numbers. Any event at a wrong place throws DataError. Cost: one pass,
// O(header) memory. Before the text stand 8 bytes, its length, little-endian.

#include "slimbayes/storage/tensor_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

using nlohmann::json;

// Builds a TensorHeader from the events of the JSON parser, which calls one member function for each event.
// For an event at a wrong place, that function calls fail(), which throws DataError.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  explicit HeaderReader(std::string_view file) : file_(file) {}

  TensorHeader take() { return std::move(header_); }

  bool start_object(size_t) override {
    if (in_list_ || depth_ == 2) fail("expected no object here");
    if (++depth_ < 2) return true;
    fields_.clear();
    if (!in_metadata()) header_.tensors.push_back({name_, {}, {}, {}});
    return true;
  }

  bool end_object() override {
    if (--depth_ == 0 || in_metadata()) return true;
    if (fields_.size() != 3) fail("expected the fields dtype, shape and data_offsets; one is missing");
    if (tensor().offsets.size() != 2) {
      fail(fmt::format("expected two data_offsets; received {}", tensor().offsets.size()));
    }
    return true;
  }

  bool key(string_t& text) override {
    if (depth_ == 1) {
      name_ = text;
      if (!names_.insert(text).second) fail("duplicate key");
      return true;
    }
    field_ = text;
    const bool known = field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    if (!in_metadata() && !known)
      fail("expected dtype, shape and data_offsets; received " + json_quoted(field_));
    if (!fields_.insert(text).second) fail("duplicate key " + json_quoted(field_));
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ != 2 || in_list_ || (!in_metadata() && field_ != "dtype")) fail("expected no text here");
    (in_metadata() ? header_.metadata[field_] : tensor().dtype) = std::move(text);
    return true;
  }

  bool start_array(size_t) override {
    if (depth_ != 2 || in_list_ || in_metadata() || field_ == "dtype") fail("expected no list here");
    return in_list_ = true;
  }

  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) fail("expected no number here");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(fmt::format("expected numbers below 2^63; received {}", value));
    }
    auto& list = field_ == "shape" ? tensor().shape : tensor().offsets;
    const size_t limit = field_ == "shape" ? kMaxRank : 2;
    if (list.size() == limit) fail(fmt::format("expected at most {} numbers in {}", limit, field_));
    list.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool number_integer(number_integer_t value) override {
    if (!in_list_) fail("expected no number here");
    fail(fmt::format("expected no negative numbers; received {}", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (!in_list_) fail("expected no number here");
    fail("expected whole numbers below 2^63; received " + json_quoted(text));
  }
  bool boolean(bool) override { fail("expected no boolean here"); }
  bool null() override { fail("expected no null here"); }
  bool binary(binary_t&) override { fail("expected no binary value here"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw DataError(std::string(file_),
                    fmt::format("the header is not valid JSON at its byte {}; the file is damaged or not in "
                                "the safetensors layout",
                                position));
  }

 private:
  bool in_metadata() const { return name_ == kMetadataName; }
  TensorEntry& tensor() { return header_.tensors.back(); }

  [[noreturn]] void fail(const std::string& message) const {
    const std::string where = depth_ == 0 ? "header" : "header entry " + json_quoted(name_);
    const std::string field = depth_ == 2 && !field_.empty() ? ", field " + json_quoted(field_) : "";
    throw DataError(std::string(file_), fmt::format("{}{}: {}; the file is damaged or not a slimbayes file",
                                                    where, field, message));
  }

  std::string_view file_;
  TensorHeader header_;
  std::set<std::string> names_;   // keys of the header so far
  std::set<std::string> fields_;  // keys of the current tensor, or of the metadata, so far
  std::string name_;              // current key of the header: a tensor's name or __metadata__
  std::string field_;             // current key within it, such as dtype
  int depth_ = 0;                 // open objects: 1 in the header, 2 in a tensor or the metadata
  bool in_list_ = false;
};

std::string json_text(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    throw std::invalid_argument("[print_header] expected names and metadata in UTF-8; received " +
                                json_quoted(text));
  }
}

uint64_t get_length(std::span<const std::byte> bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  return length;
}

}  // namespace

std::string json_quoted(std::string_view text) {
  constexpr size_t kLongest = 60;
  const bool cut = text.size() > kLongest;
  const std::string shown =
      json(std::string(text.substr(0, kLongest))).dump(-1, ' ', true, json::error_handler_t::replace);
  return foreign_text(cut ? shown + "..." : shown);
}

std::string print_header(const TensorHeader& header) {
  std::vector<std::string> metadata;
  if (const auto first = header.metadata.find("checksum"); first != header.metadata.end()) {
    metadata.push_back(json_text(first->first) + ":" + json_text(first->second));
  }
  for (const auto& [key, value] : header.metadata) {
    if (key != "checksum") metadata.push_back(json_text(key) + ":" + json_text(value));
  }
  std::string text = fmt::format("{{\"{}\":{{{}}}", kMetadataName, fmt::join(metadata, ","));
  for (const TensorEntry& entry : header.tensors) {
    text += fmt::format(R"(,{}:{{"dtype":{},"shape":[{}],"data_offsets":[{}]}})", json_text(entry.name),
                        json_text(entry.dtype), fmt::join(entry.shape, ","), fmt::join(entry.offsets, ","));
  }
  return text + "}";
}

std::string_view header_text(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < kLengthBytes) {
    throw DataError(name,
                    fmt::format("expected at least {} bytes; received {}; the file is truncated or empty",
                                kLengthBytes, bytes.size()));
  }
  if (bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'}) {
    throw DataError(
        name,
        "expected a model file, as slimbayes fit writes it; received a zip archive, such as a .pt of "
        "PyTorch; a TorchScript module enters through C++ (docs/trained-network.md)");
  }
  if (bytes.size() > kLengthBytes && bytes[kLengthBytes] != std::byte{'{'}) {
    throw DataError(
        name,
        "expected a model file, as slimbayes fit writes it (safetensors, whose header begins with '{'); "
        "received another file; check the path");
  }
  const uint64_t length = get_length(bytes);
  const size_t rest = bytes.size() - kLengthBytes;
  if (length > kMaxHeaderBytes) {
    throw DataError(name,
                    fmt::format("expected a header of at most {} bytes; received the length {}; the file is "
                                "damaged or not in the safetensors layout",
                                kMaxHeaderBytes, length));
  }
  if (length > rest) {
    throw DataError(
        name, fmt::format("expected a header of {} bytes; received {}; the file is truncated", length, rest));
  }
  return {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, static_cast<size_t>(length)};
}

TensorHeader parse_header(std::string_view text, std::string_view file) {
  // The JSON parser accepts a byte-order mark and leading spaces; the safetensors layout does not.
  if (!text.starts_with('{')) {
    throw DataError(
        std::string(file),
        "expected a JSON header that begins with '{'; received something else; the file is damaged or not in "
        "the safetensors layout");
  }
  HeaderReader reader(file);
  json::sax_parse(text.begin(), text.end(), &reader);
  return reader.take();
}

TensorHeader read_header(const std::filesystem::path& path) {
  const std::vector<std::byte> length = read_bytes(path, kLengthBytes);
  const size_t most =
      length.size() < kLengthBytes ? 0 : std::min<size_t>(get_length(length), kMaxHeaderBytes);
  return parse_header(header_text(read_bytes(path, kLengthBytes + most), path.string()), path.string());
}

}  // namespace slimbayes
