#pragma once

#include <cstdint>

namespace slimbayes {

/// The sizes of every comparison, equal to those in peers.py: inputs, hidden units, rank of the basis.
constexpr int64_t kInputs = 26, kHidden = 64, kRank = 128;

}  // namespace slimbayes
