// Standard normal numbers in float32, for methods that draw millions of weights in a step.
//
// Method  Philox4x32-10 as in random.cpp, under a counter of its own, for 512 counters at once, so that the
//         compiler can use vector instructions. Two 24-bit uniform numbers give two normal ones (Box and
//         Muller 1958); log, cos and sin are ATen's vector functions. They are called for 8192 numbers, which
//         stay in the cache and make the cost of a call small.
// Limits  The largest number is 5.9: more extreme ones have the probability 4e-9.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <Random123/philox.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "slimbayes/core/device_random.h"
#include "slimbayes/core/random.h"
#include "slimbayes/core/random_layout.h"
#include "slimbayes/core/threads.h"

namespace slimbayes {

namespace {

constexpr int64_t kLanes = float32_numbers::kLanes;    // counters at once
constexpr int64_t kBlocks = float32_numbers::kBlocks;  // as many times in a chunk
constexpr int64_t kHalf = float32_numbers::kHalf, kChunk = float32_numbers::kChunk;
constexpr int64_t kChunksOfATask = 4;  // least work for a thread

/// Four rows of kLanes words: the state of Philox for as many counters.
struct Lanes {
  uint32_t word[4][kLanes];
};

/// Runs Philox4x32-10 over all lanes. The body of both functions below; inlined into each, so that it is
/// compiled for the instructions of each.
[[gnu::always_inline]] inline void philox_rounds(Lanes& lanes, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < float32_numbers::kRounds; ++round) {
    for (int64_t i = 0; i < kLanes; ++i) {
      const uint64_t first = uint64_t{PHILOX_M4x32_0} * lanes.word[0][i],
                     second = uint64_t{PHILOX_M4x32_1} * lanes.word[2][i];
      lanes.word[0][i] = static_cast<uint32_t>(second >> 32) ^ lanes.word[1][i] ^ key0;
      lanes.word[2][i] = static_cast<uint32_t>(first >> 32) ^ lanes.word[3][i] ^ key1;
      lanes.word[1][i] = static_cast<uint32_t>(second);
      lanes.word[3][i] = static_cast<uint32_t>(first);
    }
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
}

/// Writes 24 bits of each word as a number in (0, 1] times `factor`.
[[gnu::always_inline]] inline void to_uniform(const uint32_t* words, float factor, float* out) {
  for (int64_t i = 0; i < kLanes; ++i)
    out[i] = (static_cast<float>(static_cast<int32_t>(words[i] >> 8)) + 0.5f) * (factor * 0x1p-24f);
}

[[gnu::always_inline]] inline void uniforms_of(uint64_t key, uint64_t chunk, int64_t n, float* out) {
  Lanes lanes;
  for (int64_t block = 0; block < kBlocks && 2 * kLanes * block < n; ++block) {
    const uint64_t first = (chunk * kBlocks + static_cast<uint64_t>(block)) * kLanes;
    for (int64_t i = 0; i < kLanes; ++i) {
      const uint64_t counter = first + static_cast<uint64_t>(i);
      lanes.word[0][i] = static_cast<uint32_t>(counter);
      lanes.word[1][i] = static_cast<uint32_t>(counter >> 32);
      lanes.word[2][i] = float32_numbers::kTag;
      lanes.word[3][i] = 0;
    }
    philox_rounds(lanes, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32));
    float* own = out + 2 * kLanes * block;
    to_uniform(lanes.word[0], 1, own);
    to_uniform(lanes.word[1], 1, own + kLanes);
    to_uniform(lanes.word[2], float32_numbers::kTwoPi, own + kHalf);
    to_uniform(lanes.word[3], float32_numbers::kTwoPi, own + kHalf + kLanes);
  }
}

/// Writes the uniform numbers behind the first n normal numbers of chunk number `chunk`: radii, in (0, 1], to
/// the first half of `out`, and angles, in (0, 2 pi], to the second half.
using Uniforms = void (*)(uint64_t key, uint64_t chunk, int64_t n, float* out);

void plain_uniforms(uint64_t key, uint64_t chunk, int64_t n, float* out) { uniforms_of(key, chunk, n, out); }

#ifdef __x86_64__
[[gnu::target("avx512f,avx512dq")]] void wide_uniforms(uint64_t key, uint64_t chunk, int64_t n, float* out) {
  uniforms_of(key, chunk, n, out);
}
#endif

Uniforms fastest() {
#ifdef __x86_64__
  // AVX2 is no faster here than SSE2, which every such processor has.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return wide_uniforms;
#endif
  return plain_uniforms;
}

/// Turns the uniform numbers of a chunk into its first n normal ones, in place. Number i of the first half is
/// radius i times the cosine of angle i, number i of the second half the same with the sine.
void box_muller(float* chunk, int64_t n) {
  const int64_t half = std::min(n, kHalf);
  at::Tensor radius = at::from_blob(chunk, {half}, at::kFloat),
             angle = at::from_blob(chunk + kHalf, {half}, at::kFloat);
  radius.log_().mul_(-2).sqrt_();
  const at::Tensor cosine = angle.cos();
  if (n > kHalf) angle.sin_().mul_(radius);
  radius.mul_(cosine);
}

}  // namespace

at::Tensor Stream::normal_float32(at::IntArrayRef shape, at::Device device) const {
  if (!device.is_cpu()) return normal_float32_of(key_, shape, device);
  static const Uniforms uniforms = fastest();
  at::Tensor out = at::empty(shape, at::kFloat);
  float* to = out.mutable_data_ptr<float>();
  const int64_t n = out.numel(), whole = n / kChunk, chunks = whole + (n % kChunk != 0);
  over_range(chunks, kChunksOfATask, [&](int64_t first, int64_t last) {
    const at::NoGradGuard no_grad;
    for (int64_t c = first; c < last; ++c) {
      const int64_t own = std::min(kChunk, n - c * kChunk);
      std::vector<float> rest(c < whole ? 0 : kChunk);  // of the last, incomplete chunk
      float* numbers = c < whole ? to + c * kChunk : rest.data();
      uniforms(key_, static_cast<uint64_t>(c), own, numbers);
      box_muller(numbers, own);
      if (c == whole) std::copy_n(numbers, own, to + c * kChunk);
    }
  });
  return out;
}

}  // namespace slimbayes
