#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/storage/checksum.h"

namespace slimbayes::trial {

using Bytes = std::vector<std::byte>;

inline size_t below(std::mt19937_64& random, size_t bound) { return bound == 0 ? 0 : random() % bound; }

// Flips, cuts, erases, repeats, overwrites or moves bytes. The random generator chooses places and sizes.
inline void mutate(Bytes& bytes, std::mt19937_64& random) {
  const size_t at = below(random, bytes.size());
  const size_t length = std::min(bytes.size() - at, 1 + below(random, 24));
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  switch (below(random, 6)) {
    case 0:
      if (!bytes.empty()) bytes[at] ^= std::byte{1} << below(random, 8);
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2:
      bytes.erase(begin, end);
      break;
    case 3: {
      const Bytes part(begin, end);
      const auto to = static_cast<std::ptrdiff_t>(below(random, bytes.size() + 1));
      bytes.insert(bytes.begin() + to, part.begin(), part.end());
      break;
    }
    case 4:
      std::generate(begin, end, [&] { return static_cast<std::byte>(random()); });
      break;
    default:
      std::rotate(begin, begin + static_cast<std::ptrdiff_t>(length / 2), end);
  }
}

// Replaces a random run of digits by another text.
inline void edit_number(std::string& text, std::mt19937_64& random) {
  static const std::vector<std::string> numbers{"0",
                                                "1",
                                                "2",
                                                "7",
                                                "8",
                                                "-1",
                                                "1.5",
                                                "1e3",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "-0",
                                                "4294967296",
                                                "18446744073709551616",
                                                "1e400",
                                                "[]",
                                                "{}",
                                                "null",
                                                "\"1\"",
                                                "00",
                                                "1,1"};
  const size_t start = text.find_first_of("0123456789", below(random, text.size()));
  if (start == std::string::npos) return;
  const size_t end = std::min(text.find_first_not_of("0123456789", start), text.size());
  text.replace(start, end - start, numbers[below(random, numbers.size())]);
}

// Returns the data under another header text, with a correct header length and, if the bytes are long enough
// to hold one, a correct checksum.
inline Bytes with_header(const std::string& header, std::span<const std::byte> data) {
  Bytes bytes(8);
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(header.size() >> (8 * i));
  const auto text = std::as_bytes(std::span(header));
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  if (bytes.size() >= kChecksumAt + kChecksumDigits) seal(bytes);
  return bytes;
}

}  // namespace slimbayes::trial
