#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace slimbayes {

/// Returns the device with this name: "cpu", "cuda", "cuda:1", or another of libtorch's, such as "xpu".
/// "auto" is the first accelerator that is there, else the CPU. Throws std::invalid_argument for an unknown
/// name, and for a device that this process cannot use; the message says what is missing.
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

/// While an object of this class lives, CUDA computes in full float32 and gives the same bits in every run:
/// libtorch takes its deterministic algorithms and no TF32. These are settings of the process, which the last
/// object that goes restores. An operation without a deterministic algorithm runs nevertheless, and `note`,
/// which may be empty, gets a sentence on the first one. On other devices the class has no effect. Create and
/// destroy it in the thread that trains.
class ReproducibleDevice {
 public:
  ReproducibleDevice(at::Device device, std::function<void(const std::string&)> note);
  ~ReproducibleDevice();
  ReproducibleDevice(const ReproducibleDevice&) = delete;
  ReproducibleDevice& operator=(const ReproducibleDevice&) = delete;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;  // nullptr: no effect
};

}  // namespace slimbayes
