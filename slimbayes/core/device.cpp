#include "slimbayes/core/device.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <fmt/format.h>

#include <optional>

#include "slimbayes/core/accelerator_library.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// Returns what keeps this process from using an accelerator of this type; empty if nothing does.
std::string missing(at::DeviceType type) {
  if (!at::globalContext().hasXPU() && type == at::kXPU) return "a libtorch without XPU";
  if (type == at::kCUDA && !open_cuda_library().empty()) return open_cuda_library();
  if (type == at::kCUDA && !at::globalContext().hasCUDA())
    return "a libtorch with CUDA, but no NVIDIA GPU that its driver shows to this process";
  const std::optional<at::DeviceType> found = at::getAccelerator(/*checked=*/false);
  if (!found || *found != type)
    return found ? fmt::format("an accelerator of type {}", at::DeviceTypeName(*found, /*lower_case=*/true))
                 : "no accelerator";
  return {};
}

}  // namespace

at::Device device_of(std::string_view name) {
  if (name == "cpu") return at::kCPU;
  open_cuda_library();  // before anything asks libtorch for its devices
  if (name == "auto") {
    const std::optional<at::DeviceType> found = at::getAccelerator(/*checked=*/false);
    return found && at::accelerator::deviceCount() > 0 ? at::Device(*found, 0) : at::Device(at::kCPU);
  }
  std::optional<at::Device> device;
  try {
    device.emplace(std::string(name));
  } catch (const c10::Error&) {
    refuse("device", "`.device` to be cpu, auto, cuda or cuda:NUMBER", fmt::format("'{}'", name));
  }
  if (device->is_cpu()) return at::kCPU;
  const char* hint = "`.device=cpu` computes on the processor; docs/devices.md says what a GPU needs";
  if (const std::string why = missing(device->type()); !why.empty())
    refuse("device", fmt::format("a machine with the device {}", name), why, hint);
  const int64_t count = at::accelerator::deviceCount();
  const int64_t index = device->has_index() ? device->index() : 0;
  if (index >= count)
    refuse("device", fmt::format("one of the {} devices of this machine, numbered from 0", count),
           std::string(name), hint);
  return {device->type(), static_cast<at::DeviceIndex>(index)};
}

std::string name_of(at::Device device) { return device.is_cpu() ? "cpu" : device.str(); }

at::Tensor on_cpu(const at::Tensor& x) { return on_device(x, at::kCPU); }

at::Tensor on_device(const at::Tensor& x, at::Device device) {
  return !x.defined() || x.device() == device ? x : x.to(device);
}

at::TensorOptions doubles_like(const at::Tensor& x) { return x.options().dtype(at::kDouble); }

}  // namespace slimbayes
