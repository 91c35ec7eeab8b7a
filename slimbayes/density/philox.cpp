// Random numbers without state.
//
// Problem: results must not depend on the order in which parts of a program draw numbers, on threads, or on
// what another library did to a global generator.
// Method: a counter-based generator. Philox4x32-10 maps a key and a counter to a block of 128 random bits by
// ten rounds of multiplication and exchange. The key belongs to the stream, and block i / 2 holds the numbers
// i and i + 1 (i even). Any number therefore costs O(1), and a tensor can be filled in any order. The key of
// a child stream is also computed as a block under the parent's key. Half of that block's counter holds a tag
// that blocks of numbers never have, so the child's key is unrelated to the parent's numbers.
// Source: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011). The bits are
// the same on every machine. Normal numbers are the same up to the log, sin and cos of the C library.
#include "slimbayes/density/philox.h"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace slimbayes::philox {

namespace {

using Words = std::array<uint64_t, 2>;

enum Tag : uint32_t { kNumbers = 0, kIndex = 1, kPurpose = 2 };  // core/random_layout.h has 3

Words block(uint64_t key, uint64_t counter, Tag tag = kNumbers, uint32_t extra = 0) {
  philox4x32_ctr_t c = {{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), tag, extra}};
  philox4x32_key_t k = {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}};
  philox4x32_ctr_t out = philox4x32(c, k);
  return {out[0] | static_cast<uint64_t>(out[1]) << 32, out[2] | static_cast<uint64_t>(out[3]) << 32};
}

// Returns a number in (0, 1) from 64 random bits: the midpoint of one of 2^52 equal cells. It lies strictly
// between 0 and 1, so its logarithm is finite.
double unit(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

}  // namespace

uint64_t split(uint64_t key, uint64_t index) { return block(key, index, kIndex)[0]; }

uint64_t split(uint64_t key, std::string_view purpose) {
  // Chains one block per eight bytes of the text: the bytes are the counter, and the output is the key of the
  // next block. The length of the text is part of the counter, so that "a" and "a\0" give different streams.
  size_t at = 0;
  do {
    uint64_t chunk = 0;
    const std::string_view part = purpose.substr(std::min(at, purpose.size()), sizeof chunk);
    for (size_t i = 0; i < part.size(); ++i)
      chunk |= static_cast<uint64_t>(static_cast<uint8_t>(part[i])) << (8 * i);
    key = block(key, chunk, kPurpose, static_cast<uint32_t>(purpose.size()))[0];
    at += sizeof chunk;
  } while (at < purpose.size());
  return key;
}

uint64_t bits(uint64_t key, uint64_t i) { return block(key, i / 2)[i % 2]; }

double uniform(uint64_t key, uint64_t i) { return unit(bits(key, i)); }

std::pair<double, double> uniforms(uint64_t key, uint64_t i) {
  const Words words = block(key, i);
  return {unit(words[0]), unit(words[1])};
}

std::pair<double, double> normals(uint64_t key, uint64_t i) {  // Box and Muller 1958
  const auto [first, second] = uniforms(key, i);
  const double radius = std::sqrt(-2.0 * std::log(first)), angle = 2.0 * std::numbers::pi * second;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double normal(uint64_t key, uint64_t i) {
  const auto [first, second] = normals(key, i / 2);
  return i % 2 ? second : first;
}

}  // namespace slimbayes::philox
