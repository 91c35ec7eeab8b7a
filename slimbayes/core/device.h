#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace slimbayes {

/// Returns the device with this name: "cpu", "cuda", "cuda:1", or another of libtorch's, such as "xpu". "auto"
/// is the first accelerator that is there, else the CPU. Throws std::invalid_argument for an unknown name, and
/// for a device that this process cannot use; the message says what is missing.
at::Device device_of(std::string_view name);

/// Returns the name of a device, as device_of() takes it.
std::string name_of(at::Device device);

/// Returns the tensor on the CPU; the same tensor if it is there already, or if it is undefined. A copy from
/// another device waits until the device has computed the tensor.
at::Tensor on_cpu(const at::Tensor& x);

/// Returns the tensor on this device; the same tensor if it is there already, or if it is undefined.
at::Tensor on_device(const at::Tensor& x, at::Device device);

/// Returns the options of a float64 tensor on the device of x: those of most numbers beside a network.
at::TensorOptions doubles_like(const at::Tensor& x);

}  // namespace slimbayes
