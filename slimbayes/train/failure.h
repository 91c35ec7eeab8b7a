#pragma once

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace slimbayes {

/// Returns the message of an exception that concerns one fit only, so that the other fits of a call may still
/// succeed: a numerical failure, an option that does not suit the rows, too little memory. Returns nullopt
/// for other exceptions, which end the whole call.
std::optional<std::string> failure_of(const std::exception_ptr& thrown);

/// Returns whether the exception is a NumericalError.
bool is_numerical(const std::exception_ptr& thrown);

/// Throws NumericalError: the loss of a step is not finite, or a loss or gradient of the steps from `first`
/// to `last`, which are equal for one step. `steps` and `rate` are those of the whole training.
[[noreturn]] void throw_infinite_loss(double loss, int64_t first, int64_t last, int64_t steps, double rate);

/// Throws OutOfMemory (data/table/limits.h): a device has no memory left for a training. `batch` is the
/// number of rows of the step that failed, 0 outside of steps; `saved` is the step of the checkpoint that was
/// written then, nothing if there is none.
[[noreturn]] void throw_device_is_full(const c10::OutOfMemoryError& error, at::Device device, int64_t batch,
                                       std::optional<int64_t> saved);

/// Throws OutOfMemory: a device has no memory left for the call `where`, outside of a training's steps.
[[noreturn]] void throw_device_is_full(const c10::OutOfMemoryError& error, at::Device device,
                                       std::string_view where);

/// Returns f(), whose networks are on this device. Where the device has no memory left, throws OutOfMemory in
/// place of libtorch's error, which callers take for one of the machine's memory.
template <class F>
auto with_memory_of(at::Device device, std::string_view where, F f) {
  try {
    return f();
  } catch (const c10::OutOfMemoryError& error) {
    if (device.is_cpu()) throw;
    throw_device_is_full(error, device, where);
  }
}

}  // namespace slimbayes
