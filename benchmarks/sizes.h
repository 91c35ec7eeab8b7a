#pragma once

#include <cstdint>

namespace slimbayes {

/// The task of every comparison, that of peers.py: inputs, width of the network, rank of the basis.
constexpr int64_t kInputs = 26, kHidden = 64, kRank = 128;

}  // namespace slimbayes
