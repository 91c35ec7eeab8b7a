#pragma once

#include <cstdint>

namespace slimbayes {

/// What computes the passes of a network. `engine` stands for the engine where that knows every layer, else
/// libtorch.
enum class Execution : uint8_t { engine, libtorch };

}  // namespace slimbayes
