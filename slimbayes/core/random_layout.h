#pragma once

#include <cstdint>
#include <numbers>

namespace slimbayes::float32_numbers {

// Where the numbers of Stream::normal_float32 come from: shared by the computation on the CPU and on devices.

inline constexpr int64_t kLanes = 512;                  // counters of a block
inline constexpr int64_t kBlocks = 8;                   // blocks of a chunk
inline constexpr int64_t kHalf = 2 * kLanes * kBlocks;  // numbers of half a chunk
inline constexpr int64_t kChunk = 2 * kHalf;            // numbers of a chunk
inline constexpr uint32_t kTag = 3;  // of the counter: no other numbers have it (density/philox)
inline constexpr int kRounds = 10;   // of Philox
inline constexpr float kTwoPi = 2 * std::numbers::pi_v<float>;

}  // namespace slimbayes::float32_numbers
