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

#include "slimbayes/core/random.h"

#include <ATen/ATen.h>
#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

using Words = std::array<uint64_t, 2>;

enum Tag : uint32_t { kNumbers = 0, kIndex = 1, kPurpose = 2 };  // random_float32.cpp has 3

Words block(uint64_t key, uint64_t counter, Tag tag = kNumbers, uint32_t extra = 0) {
  philox4x32_ctr_t c = {{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), tag, extra}};
  philox4x32_key_t k = {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}};
  philox4x32_ctr_t out = philox4x32(c, k);
  return {out[0] | static_cast<uint64_t>(out[1]) << 32, out[2] | static_cast<uint64_t>(out[3]) << 32};
}

// Returns a number in (0, 1) from 64 random bits: the midpoint of one of 2^52 equal cells. It lies strictly
// between 0 and 1, so its logarithm is finite.
double unit(uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

std::pair<double, double> uniforms(Words bits) { return {unit(bits[0]), unit(bits[1])}; }

std::pair<double, double> normals(Words bits) {  // Box and Muller 1958
  double radius = std::sqrt(-2.0 * std::log(unit(bits[0])));
  double angle = 2.0 * std::numbers::pi * unit(bits[1]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double narrowed(double x, double) { return x; }
float narrowed(double x, float) {
  float y = static_cast<float>(x);
  return x < 1.0 && y == 1.0f ? 1.0f - 0x1p-24f : y;  // rounding must not give 1
}

/// Fills out[0], ..., out[n - 1] with the pairs of numbers that draw(0), draw(1), ... return; if n is odd,
/// the last number of the last pair is not used.
template <class Number, class Draw>
void fill(Number* out, int64_t n, Draw draw) {
  for (int64_t i = 0; i < n; i += 2) {
    auto [first, second] = draw(static_cast<uint64_t>(i) / 2);
    out[i] = narrowed(first, Number{});
    if (i + 1 < n) out[i + 1] = narrowed(second, Number{});
  }
}

template <class Draw>
at::Tensor filled(at::IntArrayRef shape, at::ScalarType type, const char* function, Draw draw) {
  if (type != at::kDouble && type != at::kFloat)
    refuse(function, "type float64 or float32", at::toString(type), "draw in float32 and convert");
  at::Tensor out = at::empty(shape, at::TensorOptions().dtype(type));
  if (type == at::kDouble)
    fill(out.mutable_data_ptr<double>(), out.numel(), draw);
  else
    fill(out.mutable_data_ptr<float>(), out.numel(), draw);
  return out;
}

}  // namespace

Stream::Stream(uint64_t seed) : key_(seed) {}

Stream Stream::split(uint64_t index) const { return Stream(block(key_, index, kIndex)[0]); }

Stream Stream::split(std::string_view purpose) const {
  // Chains one block per eight bytes of the text: the bytes are the counter, and the output is the key of the
  // next block. The length of the text is part of the counter, so that "a" and "a\0" give different streams.
  uint64_t key = key_;
  size_t at = 0;
  do {
    uint64_t chunk = 0;
    std::string_view part = purpose.substr(at, sizeof chunk);
    for (size_t i = 0; i < part.size(); ++i)
      chunk |= static_cast<uint64_t>(static_cast<uint8_t>(part[i])) << (8 * i);
    key = block(key, chunk, kPurpose, static_cast<uint32_t>(purpose.size()))[0];
    at += sizeof chunk;
  } while (at < purpose.size());
  return Stream(key);
}

uint64_t Stream::bits(uint64_t i) const { return block(key_, i / 2)[i % 2]; }

double Stream::uniform(uint64_t i) const { return unit(bits(i)); }

double Stream::normal(uint64_t i) const {
  auto [first, second] = normals(block(key_, i / 2));
  return i % 2 ? second : first;
}

at::Tensor Stream::uniform(at::IntArrayRef shape, at::ScalarType type) const {
  return filled(shape, type, "Stream::uniform", [key = key_](uint64_t i) { return uniforms(block(key, i)); });
}

at::Tensor Stream::normal(at::IntArrayRef shape, at::ScalarType type) const {
  return filled(shape, type, "Stream::normal", [key = key_](uint64_t i) { return normals(block(key, i)); });
}

at::Tensor Stream::permutation(int64_t n) const {
  if (!(n >= 0)) refuse("Stream::permutation", "n >= 0", std::to_string(n));
  at::Tensor out = at::arange(n, at::kLong);
  int64_t* p = out.mutable_data_ptr<int64_t>();
  // The remainder of 64 random bits is not exactly uniform, but its bias is below n / 2^64.
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(p[i], p[bits(static_cast<uint64_t>(i)) % (static_cast<uint64_t>(i) + 1)]);
  return out;
}

}  // namespace slimbayes
