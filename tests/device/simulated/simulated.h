#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>

namespace slimbayes::simulated {

// A device for tests, "simulated:0" and "simulated:1": libtorch's PrivateUse1 with memory that the host may
// not touch (memory.h). Its kernels are those of the CPU, so that its bits are the CPU's. It is as strict as
// CUDA: a kernel refuses tensors of another device, but for a number (a tensor without dimensions) in an
// operation by elements and for the indices of x[...]; it has no generator and refuses that of the CPU.

inline constexpr int kDevices = 2;

/// Registers the device with libtorch. Call it in main(), before any tensor.
void install();

inline at::Device device(int index = 0) { return {at::kPrivateUse1, static_cast<at::DeviceIndex>(index)}; }

/// What the device has done. Where a GPU's program waits for the device are `items` and `to_host`.
struct Counters {
  int64_t kernels = 0;    // operations on the device
  int64_t items = 0;      // numbers that the host has read: item(), equal(), nonzero()
  int64_t to_device = 0;  // copies from the host
  int64_t to_host = 0;    // copies to the host

  Counters operator-(const Counters& before) const {
    return {kernels - before.kernels, items - before.items, to_device - before.to_device,
            to_host - before.to_host};
  }
  bool operator==(const Counters&) const = default;
};

/// Returns the counts since the last reset.
Counters counters();
void reset_counters();

/// Returns what the device does during `work`.
Counters work_of(const std::function<void()>& work);

/// Records the stacks of the waits (items and copies to the host) of `work`, which must have few.
std::string stacks_of_waits(const std::function<void()>& work);

}  // namespace slimbayes::simulated
