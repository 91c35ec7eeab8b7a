// Parses any bytes as a model file: first as they are, then with a corrected header length and checksum,
// which no fuzzer would guess. Parsing must succeed or throw DataError, and a parsed file must survive a
// round trip.
#include <cstdint>
#include <cstring>

#include "slimbayes/storage/checksum.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/storage/mutation.h"
#include "tests/storage/sample.h"

namespace {

using namespace slimbayes;

void parse(std::span<const std::byte> bytes) {
  TensorFile file;
  try {
    file = parse_tensor_file(bytes, "fuzz");
  } catch (const DataError&) {
    return;
  }
  if (!trial::same(parse_tensor_file(to_bytes(file), "again"), file)) __builtin_trap();
}

}  // namespace

// Provides the seed corpus: libFuzzer starts from one good file.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int) {
  static const trial::Bytes good = to_bytes(trial::sample());
  if (size < 16 && good.size() <= max_size) {
    std::memcpy(data, good.data(), good.size());
    return good.size();
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  parse(bytes);
  if (size < 8) return 0;
  // The first two bytes give the length of the header.
  const size_t length = std::min<size_t>(data[0] | data[1] << 8, size - 8);
  const std::string header(reinterpret_cast<const char*>(data) + 8, length);
  parse(trial::with_header(header, bytes.subspan(8 + length)));
  return 0;
}
