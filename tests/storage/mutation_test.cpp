// Tests damaged and hostile model files, which a seeded mutator makes from a good one. Each must parse or
// throw DataError, and a parsed file must survive being written and parsed again.
#include "tests/storage/mutation.h"

#include <gtest/gtest.h>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

using trial::below;
using trial::Bytes;

// Returns whether the bytes parse. Any exception other than DataError fails the test.
bool survives(const Bytes& bytes) {
  try {
    const TensorFile file = parse_tensor_file(bytes, "mutant");
    EXPECT_TRUE(trial::same(parse_tensor_file(to_bytes(file), "again"), file));
    return true;
  } catch (const DataError&) {
    return false;
  }
}

TEST(ParseTensorFile, MutantsWithAWrongChecksumAreRefused) {
  const Bytes good = to_bytes(trial::sample());
  std::mt19937_64 random(20240501);
  for (int round = 0; round < 10000; ++round) {
    Bytes mutant = good;
    for (size_t i = 0, n = 1 + below(random, 4); i < n; ++i) trial::mutate(mutant, random);
    ASSERT_FALSE(survives(mutant) && mutant != good) << "round " << round;
  }
}

// The mutants get a correct checksum, so that the parser itself must find the error.
TEST(ParseTensorFile, SealedMutantsParseOrThrowDataError) {
  const Bytes good = to_bytes(trial::sample());
  const size_t length = std::to_integer<size_t>(good[0]) | std::to_integer<size_t>(good[1]) << 8;
  const auto split = good.begin() + 8 + static_cast<std::ptrdiff_t>(length);
  const std::string text(reinterpret_cast<const char*>(good.data()) + 8, length);
  std::mt19937_64 random(20240502);
  int parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string header = text;
    Bytes data(split, good.end());
    for (size_t i = 0, n = 1 + below(random, 3); i < n; ++i) {
      switch (below(random, 3)) {
        case 0:
          trial::edit_number(header, random);
          break;
        case 1: {
          Bytes raw = trial::raw(header);
          trial::mutate(raw, random);
          header.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
          break;
        }
        default:
          trial::mutate(data, random);
      }
    }
    parsed += survives(trial::with_header(header, data)) ? 1 : 0;
  }
  // Some mutants (with edited names, metadata or contents) must parse; otherwise the parser was not reached.
  EXPECT_GT(parsed, 100);
  RecordProperty("parsed", parsed);
}

}  // namespace
}  // namespace slimbayes
