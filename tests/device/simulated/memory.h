#pragma once

#include <cstddef>
#include <string>

namespace slimbayes::simulated {

// The memory of the simulated device: one file in memory, mapped twice. Tensors hold addresses of the first
// mapping, which nothing may read or write; kernels use the second one. A touch of device memory by the host
// therefore faults, on every thread. The handler records the stack of the fault and opens the page, so that
// the program goes on and a test can tell of all touches (host_touches.h).

/// Returns the address, in the first mapping, of a block of at least `bytes`; nullptr for none. Blocks are
/// reused and not cleared.
void* allocate(size_t bytes);
void release(void* block, size_t bytes);

/// Returns the address of the same memory in the second mapping; nullptr for nullptr.
void* kernel_address(const void* device_address);

/// Installs the handler of faults. Call it once, before any other thread starts.
void watch_memory();

/// Returns how many pages of device memory the host has touched since forget_touches().
int touches();

/// Returns a sentence for each of the first touches, with its stack; "" if there are none.
std::string told_touches();

/// Closes all pages again.
void forget_touches();

}  // namespace slimbayes::simulated
