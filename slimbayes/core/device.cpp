#include "slimbayes/core/device.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <fmt/format.h>
#include <torch/csrc/api/include/torch/version.h>

#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "slimbayes/core/accelerator_library.h"
#include "slimbayes/core/check.h"
#include "slimbayes/storage/printable.h"

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

/// Lets cuBLAS give the same bits in every run. It reads the variable when it starts, with the first product
/// on a device; a value that the user has set stays.
void fix_cublas_workspace() {
  c10::utils::set_env("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/false);
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 10)

/// The precision of float32 numbers on CUDA: enter() sets full precision, leave() what was there before. The
/// older settings of libtorch (setAllowTF32CuBLAS) stay out of it: they change more than they can restore.
class CudaPrecision {
 public:
  void enter() {
    for (size_t i = 0; i < kOperations.size(); ++i) {
      before_[i] = at::globalContext().float32Precision(at::Float32Backend::CUDA, kOperations[i]);
      if (before_[i] != at::Float32Precision::IEEE) set(i, at::Float32Precision::IEEE);
    }
  }

  void leave() {
    for (size_t i = 0; i < kOperations.size(); ++i)
      if (before_[i] != at::Float32Precision::IEEE) set(i, before_[i]);
  }

 private:
  static constexpr std::array kOperations = {at::Float32Op::MATMUL, at::Float32Op::CONV, at::Float32Op::RNN};

  static void set(size_t i, at::Float32Precision precision) {
    at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, kOperations[i], precision);
  }

  std::array<at::Float32Precision, kOperations.size()> before_ = {};
};

#else  // libtorch before 2.10 has no such enumerations

class CudaPrecision {
 public:
  void enter() {
    at::Context& context = at::globalContext();
    products_ = context.float32MatmulPrecision();
    others_ = context.allowTF32CuDNN();
    if (products_ != at::Float32MatmulPrecision::HIGHEST) context.setFloat32MatmulPrecision("highest");
    if (others_) context.setAllowTF32CuDNN(false);
  }

  void leave() {
    at::Context& context = at::globalContext();
    if (products_ != at::Float32MatmulPrecision::HIGHEST)
      context.setFloat32MatmulPrecision(products_ == at::Float32MatmulPrecision::HIGH ? "high" : "medium");
    if (others_) context.setAllowTF32CuDNN(true);
  }

 private:
  at::Float32MatmulPrecision products_ = at::Float32MatmulPrecision::HIGHEST;
  bool others_ = false;  // convolutions and recurrent layers
};

#endif

/// The settings of libtorch that ReproducibleDevice changes, as they were before the first of the objects
/// that live.
class CudaSettings {
 public:
  void enter() {
    const std::scoped_lock held(lock_);
    if (users_++ > 0) return;
    at::Context& context = at::globalContext();
    deterministic_ = context.deterministicAlgorithms();
    warns_ = context.deterministicAlgorithmsWarnOnly();
    fills_ = context.deterministicFillUninitializedMemory();
    if (!deterministic_) context.setDeterministicAlgorithms(true, /*warn_only=*/true);
    context.setDeterministicFillUninitializedMemory(false);
    precision_.enter();
  }

  void leave() {
    const std::scoped_lock held(lock_);
    if (--users_ > 0) return;
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(deterministic_, warns_);
    context.setDeterministicFillUninitializedMemory(fills_);
    precision_.leave();
  }

 private:
  std::mutex lock_;
  int users_ = 0;
  bool deterministic_ = false, warns_ = false, fills_ = true;
  CudaPrecision precision_;
};

CudaSettings& cuda_settings() {
  static CudaSettings settings;
  return settings;
}

}  // namespace

at::Device device_of(std::string_view name) {
  if (name == "cpu") return at::kCPU;
  open_cuda_library();  // before anything asks libtorch for its devices
  if (name == "auto") {
    const std::optional<at::DeviceType> found = at::getAccelerator(/*checked=*/false);
    if (found == at::kCUDA) fix_cublas_workspace();
    return found && at::accelerator::deviceCount() > 0 ? at::Device(*found, 0) : at::Device(at::kCPU);
  }
  std::optional<at::Device> device;
  try {
    device.emplace(std::string(name));
  } catch (const c10::Error&) {
    device.reset();  // no name of libtorch's
  }
  // libtorch takes a number modulo 256: cuda:256 would be cuda:0.
  if (!device || device->str() != name)
    refuse("device", "`.device` to be cpu, auto, cuda or cuda:NUMBER",
           fmt::format("'{}'", foreign_text(name.substr(0, 40))));
  if (device->is_cpu()) return at::kCPU;
  const char* hint = "`.device=cpu` computes on the processor; docs/devices.md says what a GPU needs";
  if (const std::string why = missing(device->type()); !why.empty())
    refuse("device", fmt::format("a machine with the device {}", name), why, hint);
  const int64_t count = at::accelerator::deviceCount();
  const int64_t index = device->has_index() ? device->index() : 0;
  if (index >= count)
    refuse("device", fmt::format("one of the {} devices of this machine, numbered from 0", count),
           std::string(name), hint);
  if (device->is_cuda()) fix_cublas_workspace();
  return {device->type(), static_cast<at::DeviceIndex>(index)};
}

std::string name_of(at::Device device) { return device.is_cpu() ? "cpu" : device.str(); }

at::Tensor on_cpu(const at::Tensor& x) { return on_device(x, at::kCPU); }

at::Tensor on_device(const at::Tensor& x, at::Device device) {
  return !x.defined() || x.device() == device ? x : x.to(device);
}

at::TensorOptions doubles_like(const at::Tensor& x) { return x.options().dtype(at::kDouble); }

/// Takes libtorch's warnings of this thread; a backward pass hands those of its own threads over to it.
class ReproducibleDevice::Listener : public c10::WarningHandler {
 public:
  explicit Listener(std::function<void(const std::string&)> note)
      : note_(std::move(note)), before_(c10::WarningUtils::get_warning_handler()), guard_(this) {}

  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    const auto has = [&text](const char* words) { return text.find(words) != std::string::npos; };
    if (has("flatten_parameters")) return;  // of cuDNN's LSTM: ours has no such call
    if (!has("deterministic")) {
      before_->process(warning);
    } else if (note_ && !std::exchange(said_, true)) {
      const std::string why = has("CUBLAS_WORKSPACE_CONFIG")
                                  ? "set CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment, before this "
                                    "process first uses the GPU"
                                  : text.substr(0, text.find_first_of(",\n"));
      note_(fmt::format("another run on this device may give slightly other numbers: {}", why));
    }
  }

 private:
  std::function<void(const std::string&)> note_;
  c10::WarningHandler* before_;
  c10::WarningUtils::WarningHandlerGuard guard_;
  bool said_ = false;
};

ReproducibleDevice::ReproducibleDevice(at::Device device, std::function<void(const std::string&)> note) {
  if (!device.is_cuda()) return;
  fix_cublas_workspace();
  listener_ = std::make_unique<Listener>(std::move(note));
  cuda_settings().enter();
}

ReproducibleDevice::~ReproducibleDevice() {
  if (listener_) cuda_settings().leave();
}

}  // namespace slimbayes
