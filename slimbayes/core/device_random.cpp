// The numbers of Stream::uniform, Stream::normal and Stream::normal_float32 by tensor operations, for devices
// other than the CPU.
//
// Philox4x32-10 multiplies words of 32 bits. Here a word is an int64 in [0, 2^32): the low 64 bits of a
// product of two such numbers are those of the unsigned product, and its two words are cut out by a shift
// and a mask.
#include "slimbayes/core/device_random.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <Random123/philox.h>

#include <array>
#include <numbers>
#include <utility>

#include "slimbayes/core/random_layout.h"

namespace slimbayes {

namespace {

constexpr int64_t kWord = 0xffffffff;

/// The four words of a block of Philox, for n counters: four tensors [n] int64.
using PhiloxWords = std::array<at::Tensor, 4>;

PhiloxWords philox_words(uint64_t key, const at::Tensor& counter, int64_t tag) {
  PhiloxWords x = {counter.bitwise_and(kWord), counter.bitwise_right_shift(32), at::full_like(counter, tag),
                   at::zeros_like(counter)};
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < float32_numbers::kRounds; ++round) {
    const at::Tensor first = x[0] * int64_t{PHILOX_M4x32_0}, second = x[2] * int64_t{PHILOX_M4x32_1};
    x = {second.bitwise_right_shift(32).bitwise_and_(kWord).bitwise_xor_(x[1]).bitwise_xor_(int64_t{key0}),
         second.bitwise_and(kWord),
         first.bitwise_right_shift(32).bitwise_and_(kWord).bitwise_xor_(x[3]).bitwise_xor_(int64_t{key1}),
         first.bitwise_and(kWord)};
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
  return x;
}

/// Returns 24 bits of each word as a number in (0, 1], times `factor`.
at::Tensor unit_float32(const at::Tensor& words, float factor) {
  return (words.bitwise_right_shift(8).to(at::kFloat) + 0.5f) * (factor * 0x1p-24f);
}

}  // namespace

at::Tensor normal_float32_of(uint64_t key, at::IntArrayRef shape, at::Device device) {
  constexpr int64_t kLanes = float32_numbers::kLanes, kBlocks = float32_numbers::kBlocks;
  const at::NoGradGuard no_grad;
  const int64_t n = c10::multiply_integers(shape),
                chunks = (n + float32_numbers::kChunk - 1) / float32_numbers::kChunk;
  // A chunk has kBlocks blocks of kLanes counters. A counter gives two radii and two angles; each half of a
  // chunk lists the first numbers of a block's counters, then the second ones.
  const at::Tensor counter = at::arange(chunks * kBlocks * kLanes, at::dtype(at::kLong).device(device));
  const PhiloxWords words = philox_words(key, counter, float32_numbers::kTag);
  const auto halves = [&](const at::Tensor& a, const at::Tensor& b, float factor) {  // [chunks, kHalf]
    const auto blocks = [&](const at::Tensor& words) {
      return unit_float32(words, factor).view({chunks, kBlocks, kLanes});
    };
    return at::stack({blocks(a), blocks(b)}, 2).view({chunks, float32_numbers::kHalf});
  };
  const at::Tensor radius = halves(words[0], words[1], 1).log_().mul_(-2).sqrt_(),
                   angle = halves(words[2], words[3], float32_numbers::kTwoPi);
  return at::stack({angle.cos() * radius, angle.sin() * radius}, 1).flatten().narrow(0, 0, n).reshape(shape);
}

namespace {

/// Returns the pairs of uniform numbers of the first `pairs` counters, as philox::uniforms has them. [pairs]
/// float64 each
std::pair<at::Tensor, at::Tensor> uniform_pairs(uint64_t key, int64_t pairs, at::Device device) {
  constexpr int64_t kTag = 0;  // of the counter, as density/philox has it for numbers
  const at::Tensor counter = at::arange(pairs, at::dtype(at::kLong).device(device));
  const PhiloxWords words = philox_words(key, counter, kTag);
  // The upper 52 of 64 bits as the midpoint of one of 2^52 equal cells; every step is exact in float64.
  const auto unit = [](const at::Tensor& low, const at::Tensor& high) {
    const at::Tensor bits = high.bitwise_left_shift(20).bitwise_or_(low.bitwise_right_shift(12));
    return bits.to(at::kDouble).add_(0.5).mul_(0x1p-52);
  };
  return {unit(words[0], words[1]), unit(words[2], words[3])};
}

/// Returns the numbers of the pairs in turn, in this shape.
at::Tensor in_turn(const at::Tensor& first, const at::Tensor& second, at::IntArrayRef shape) {
  const int64_t n = c10::multiply_integers(shape);
  return at::stack({first, second}, 1).flatten().narrow(0, 0, n).reshape(shape);
}

}  // namespace

at::Tensor normal_of(uint64_t key, at::IntArrayRef shape, const at::TensorOptions& options) {
  const at::NoGradGuard no_grad;
  const int64_t pairs = (c10::multiply_integers(shape) + 1) / 2;
  const auto [first, second] = uniform_pairs(key, pairs, options.device());
  const at::Tensor radius = first.log().mul_(-2).sqrt_(), angle = second * (2 * std::numbers::pi);
  return in_turn(radius * angle.cos(), radius * angle.sin(), shape).to(options.dtype());
}

at::Tensor uniform_of(uint64_t key, at::IntArrayRef shape, const at::TensorOptions& options) {
  const at::NoGradGuard no_grad;
  const int64_t pairs = (c10::multiply_integers(shape) + 1) / 2;
  const auto [first, second] = uniform_pairs(key, pairs, options.device());
  const at::Tensor all = in_turn(first, second, shape);
  if (c10::typeMetaToScalarType(options.dtype()) == at::kDouble) return all;
  return all.to(at::kFloat).clamp_max_(1 - 0x1p-24);  // rounding must not give 1
}

}  // namespace slimbayes
