#pragma once

namespace slimbayes::simulated {

/// Gives every operation of libtorch that has a kernel of the CPU one of the simulated device.
void register_operations();

}  // namespace slimbayes::simulated
