#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace slimbayes::philox {

// The numbers of a stream (core/random.h) as pure functions of its key, without tensors.

/// Return the key of a stream whose numbers are independent of those of this key and of its other splits.
uint64_t split(uint64_t key, uint64_t index);
uint64_t split(uint64_t key, std::string_view purpose);

/// Returns the i-th number as 64 random bits.
uint64_t bits(uint64_t key, uint64_t i);
/// Returns the i-th number, uniform in (0, 1).
double uniform(uint64_t key, uint64_t i);
/// Returns the i-th number, N(0, 1) by Box-Muller.
double normal(uint64_t key, uint64_t i);

/// Return the numbers 2 i and 2 i + 1, at half the cost of one after the other.
std::pair<double, double> uniforms(uint64_t key, uint64_t i);
std::pair<double, double> normals(uint64_t key, uint64_t i);

}  // namespace slimbayes::philox
