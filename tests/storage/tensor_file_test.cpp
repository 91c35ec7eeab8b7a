#include "slimbayes/storage/tensor_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/checksum.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_header.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

using trial::Folder;
using trial::message_of;
using trial::raw;
using trial::same;
using trial::sample;

std::string header_of(const std::vector<std::byte>& bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  size_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<size_t>(bytes[i]);
  return {text + 8, length};
}

TEST(ToBytes, RoundTripKeepsEverything) {
  EXPECT_TRUE(same(parse_tensor_file(to_bytes(sample()), "m"), sample()));
  EXPECT_TRUE(same(parse_tensor_file(to_bytes({}), "m"), {}));
  const Folder folder;
  write_tensor_file(folder / "m", sample());
  EXPECT_TRUE(same(read_tensor_file(folder / "m"), sample()));
}

TEST(ReadHeader, NeedsNoTensor) {
  const Folder folder;
  const auto bytes = to_bytes(sample());
  const size_t header = 8 + header_of(bytes).size();
  write_atomically(folder / "m", std::span(bytes).first(header));
  auto metadata = read_header(folder / "m").metadata;
  EXPECT_EQ(metadata.erase("checksum") + metadata.erase("format_version"), 2u);
  EXPECT_EQ(metadata, sample().metadata);
  for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, header - 1}) {
    write_atomically(folder / "m", std::span(bytes).first(size));
    EXPECT_THROW(read_header(folder / "m"), DataError) << size;
  }
}

TEST(ToBytes, HeaderIsPaddedAndArraysAreAligned) {
  const auto bytes = to_bytes(sample());
  const std::string header = header_of(bytes);
  EXPECT_EQ(header.size() % 8, 0U);
  EXPECT_EQ(header.find_first_not_of(' ', header.rfind('}') + 1), header.npos);
  EXPECT_TRUE(header.starts_with(kHeaderStart));
  EXPECT_EQ(header.substr(kHeaderStart.size(), kChecksumDigits), checksum_of(bytes));
  // The arrays are ordered by element size (8, 4, 1 bytes), then by name.
  size_t at = 0;
  for (const char* name : {"longs", "none", "scalar", "weights", "half", "ints", "bytes", "flags"}) {
    const size_t found = header.find(fmt::format("\"{}\":{{", name));
    EXPECT_GT(found, at) << name;
    at = found;
  }
  EXPECT_EQ(bytes, to_bytes(parse_tensor_file(bytes, "m")));
}

TEST(ToBytes, RefusesWhatDoesNotFit) {
  const auto refused = [](StoredTensor tensor, const std::string& name = "w") {
    TensorFile file;
    file.tensors[name] = std::move(tensor);
    EXPECT_THROW(to_bytes(file), std::invalid_argument);
    return message_of([&] { to_bytes(file); });
  };
  EXPECT_EQ(refused({StoredType::f64, {2, 3}, raw("12345678")}),
            "[to_bytes] tensor \"w\": expected 48 bytes by type and shape; received 8");
  refused({StoredType::f64, {-1}, {}});
  refused({StoredType::f64, {int64_t{1} << 61}, {}});
  refused({StoredType::f64, {0, int64_t{1} << 62}, {}});
  refused({StoredType::u8, std::vector<int64_t>(33, 1), raw("x")});
  refused({StoredType::boolean, {1}, raw("x")});
  refused({StoredType::u8, {1}, raw("x")}, "__metadata__");
  refused({StoredType::u8, {1}, raw("x")}, "\xff not UTF-8");
  TensorFile file;
  file.metadata["note"] = "\xc3";
  EXPECT_THROW(to_bytes(file), std::invalid_argument);
}

TEST(ToBytes, ReservedKeysMayOnlyHoldTheirOwnValues) {
  TensorFile file = sample();
  const auto bytes = to_bytes(file);
  file.metadata["format_version"] = "1";
  file.metadata["checksum"] = checksum_of(bytes);
  EXPECT_EQ(to_bytes(file), bytes);
  file.metadata["checksum"] = std::string(32, '0');
  EXPECT_THROW(to_bytes(file), std::invalid_argument);
  file.metadata.erase("checksum");
  file.metadata["format_version"] = "2";
  EXPECT_THROW(to_bytes(file), std::invalid_argument);
}

TEST(ParseTensorFile, EveryBitFlipIsFound) {
  const auto bytes = to_bytes(sample());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_THROW(parse_tensor_file(damaged, "m"), DataError) << "bit " << bit;
  }
}

TEST(ParseTensorFile, EveryTruncationAndExtensionIsFound) {
  auto bytes = to_bytes(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_THROW(parse_tensor_file(std::span(bytes).first(size), "m"), DataError) << size;
  }
  bytes.push_back({});
  EXPECT_THROW(parse_tensor_file(bytes, "m"), DataError);
}

// Returns a file with a correct checksum that holds `tensors` (JSON, after the metadata) and `data`.
std::vector<std::byte> hostile(const std::string& tensors, const std::string& data = "",
                               const std::string& version = "1") {
  std::string text = std::string(kHeaderStart) + std::string(32, '0') + R"(","format_version":")" + version +
                     "\"}" + (tensors.empty() ? "" : "," + tensors) + "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(text.size() >> (8 * i));
  auto bytes = raw(file + text + data);
  seal(bytes);
  return bytes;
}

std::string reason(const std::vector<std::byte>& bytes) {
  EXPECT_THROW(parse_tensor_file(bytes, "m"), DataError);
  return message_of([&] { parse_tensor_file(bytes, "m"); });
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}

TEST(ParseTensorFile, NamesWhatIsHostile) {
  ASSERT_NO_THROW(parse_tensor_file(hostile(entry("a", "U8", "2", "0,2"), "xy"), "m"));
  struct Case {
    std::string tensors, data, reason;
  };
  const std::string a = entry("a", "U8", "2", "0,2");
  const std::vector<Case> cases{
      {a + "," + a, "xy", "header entry \"a\": duplicate key"},
      {R"("__metadata__":{})", "", "header entry \"__metadata__\": duplicate key"},
      {R"("a":{"dtype":"U8","shape":[2],"shape":[2],"data_offsets":[0,2]})", "xy", "duplicate key \"shape\""},
      {R"("a":{"dtype":"U8","shape":[2]})", "", "one is missing"},
      {R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1})", "xy", "received \"x\""},
      {R"("a":[])", "", "expected no list here"},
      {R"("a":1)", "", "expected no number here"},
      {R"("a":"text")", "", "expected no text here"},
      {R"("a":{"dtype":null,"shape":[],"data_offsets":[0,1]})", "x", "expected no null here"},
      {R"("a":{"dtype":true,"shape":[],"data_offsets":[0,1]})", "x", "expected no boolean here"},
      {R"("a":{"dtype":{"a":{}}})", "", "expected no object here"},
      {R"("a":{"shape":[[2]]})", "", "expected no list here"},
      {R"("a":{"shape":["2"]})", "", "expected no text here"},
      {entry("a", "F16", "1", "0,2"), "xy",
       "expected a dtype among F64, F32, I64, I32, U8, BOOL; received \"F16\""},
      {entry("a", "U8", "-2", "0,2"), "xy", "expected no negative numbers; received -2"},
      {entry("a", "U8", "2.0", "0,2"), "xy", "expected whole numbers below 2^63; received \"2.0\""},
      {entry("a", "U8", "2e0", "0,2"), "xy", "expected whole numbers below 2^63; received \"2e0\""},
      {entry("a", "U8", "9223372036854775808", "0,2"), "xy", "expected numbers below 2^63"},
      {entry("a", "U8", "99999999999999999999", "0,2"), "xy", "expected whole numbers below 2^63"},
      {entry("a", "F64", "4294967296,4294967296", "0,0"), "", "its product overflows"},
      {entry("a", "F64", "0,4294967296,4294967296", "0,0"), "", "its product overflows"},
      {entry("a", "U8", "9223372036854775807", "0,9223372036854775807"), "x", "the file is truncated"},
      {entry("a", "U8", "3", "0,2"), "xy", "expected 3 bytes by dtype and shape; received 2"},
      {entry("a", "U8", "2", "2,0"), "xy", "a gap"},
      {a + "," + entry("b", "U8", "2", "2,1"), "xy", "expected data_offsets in order; received 2 and 1"},
      {a + "," + entry("b", "U8", "2", "1,3"), "xyz", "expected data_offsets from 2; received 1: overlap"},
      {a + "," + entry("b", "U8", "1", "3,4"), "xyzw", "expected data_offsets from 2; received 3: a gap"},
      {a, "xyz", "expected 2 bytes of data; received 3: no tensor covers the rest"},
      {entry("a", "U8", "2", "0"), "xy", "expected two data_offsets; received 1"},
      {entry("a", "U8", "2", "0,2,2"), "xy", "expected at most 2 numbers in data_offsets"},
      {entry("a", "BOOL", "2", "0,2"), "xy", "expected booleans stored as 0 or 1"},
      {"\"\xff\":1", "", "the header is not valid JSON at its byte"},
      {entry("\\u001b[31m", "U9", "2", "0,2"), "xy", "tensor \"\\u001b[31m\": expected a dtype"}};
  for (const Case& c : cases) {
    const std::string message = reason(hostile(c.tensors, c.data));
    EXPECT_NE(message.find(c.reason), std::string::npos) << c.tensors << "\n" << message;
    EXPECT_TRUE(message.starts_with("m: ")) << message;
  }
}

TEST(ParseTensorFile, MetadataHoldOnlyText) {
  for (const std::string value : {"1", "null", "true", "[]", "{}", "0.5", "-1"}) {
    auto bytes = hostile("");
    std::string header = header_of(bytes);
    header.insert(header.find("\"format_version"), "\"k\":" + value + ",");
    std::string file(8, '\0');
    for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
    EXPECT_NE(reason(raw(file + header)).find("header entry \"__metadata__\", field \"k\": expected no"),
              std::string::npos);
  }
}

TEST(ParseTensorFile, DeepNestingAndHugeLengthsEndEarly) {
  EXPECT_NE(reason(hostile("\"a\":" + std::string(1000000, '['))).find("expected no list here"),
            std::string::npos);
  std::string huge(8, '\xff');
  EXPECT_NE(reason(raw(huge + "{}")).find("expected a header of at most"), std::string::npos);
  EXPECT_NE(
      reason(raw(std::string("\x20\0\0\0\0\0\0\0{}", 10))).find("expected a header of 32 bytes; received 2"),
      std::string::npos);
  EXPECT_NE(reason({}).find("expected at least 8 bytes; received 0"), std::string::npos);
  EXPECT_NE(reason(raw(std::string(8, '\0'))).find("begins with '{'"), std::string::npos);
}

TEST(ParseTensorFile, AModuleOfPyTorchIsSentToItsDoor) {
  const std::string message = reason(raw(std::string("PK\x03\x04") + std::string(60, '\0')));
  EXPECT_NE(message.find("received a zip archive, such as a .pt of PyTorch; a TorchScript module enters "
                         "through C++ (docs/trained-network.md)"),
            std::string::npos)
      << message;
}

TEST(ParseTensorFile, ANewerVersionAsksForAnUpgrade) {
  for (const std::string version : {"2", "999", "99999999999999999999999"}) {
    const std::string message = reason(hostile("", "", version));
    EXPECT_NE(message.find("this build reads format versions 1 to 1; received version " +
                           version.substr(0, 20) + "; upgrade slimbayes"),
              std::string::npos)
        << message;
  }
  for (const std::string version : {"0", "01", "", "-1", "1.0", "one"}) {
    EXPECT_NE(reason(hostile("", "", version)).find("expected metadata format_version to be a whole number"),
              std::string::npos);
  }
}

TEST(Checksum, IsXxh3OfTheFileWithZeroDigits) {
  // Reference values: xxh3_128_hexdigest of python-xxhash 4.1.0. The lengths reach XXH3's middle and long
  // paths.
  EXPECT_EQ(checksum_of(raw(std::string(69, '0'))), "f727ad2e9858dc069b6eb5e2f7a11445");
  std::vector<std::byte> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>((i * 7 + i / 251) % 256);
  EXPECT_EQ(checksum_of(bytes), "421f6a4da03fc6e614b2f3a968918d45");
  seal(bytes);
  EXPECT_EQ(checksum_of(bytes), "421f6a4da03fc6e614b2f3a968918d45");
  EXPECT_EQ(bytes[kChecksumAt], std::byte{'4'});
  EXPECT_THROW(checksum_of(std::span(bytes).first(68)), std::invalid_argument);
}

TEST(ElementSize, IsTheLayoutsSize) {
  EXPECT_EQ(element_size(StoredType::f64), 8);
  EXPECT_EQ(element_size(StoredType::f32), 4);
  EXPECT_EQ(element_size(StoredType::i64), 8);
  EXPECT_EQ(element_size(StoredType::i32), 4);
  EXPECT_EQ(element_size(StoredType::u8), 1);
  EXPECT_EQ(element_size(StoredType::boolean), 1);
}

}  // namespace
}  // namespace slimbayes
