#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <utility>
#include <vector>

namespace slimbayes::simulated {

/// The tensors of one call of a kernel: device tensors as tensors of the CPU over the same memory, and
/// results back as device tensors. Tensors that share memory on the device share it in the views too.
class HostViews {
 public:
  explicit HostViews(const c10::OperatorHandle& op) : op_(op) {}

  /// Returns an argument of the operation as a CPU kernel takes it. Throws c10::Error for a tensor of another
  /// device and for a generator of the CPU.
  c10::IValue argument(const c10::IValue& value, size_t number);

  /// Brings what the kernel has changed of its arguments, other than their numbers, back to them: shapes, and
  /// memory that grew.
  void settle();

  /// Returns a result of the kernel: an argument or a view of one as such, else a new tensor of the device.
  c10::IValue result(const c10::IValue& value);

 private:
  struct Borrowed {
    at::Tensor original, view;
  };
  struct Memory {
    c10::Storage original, host;
  };

  at::Tensor admitted(const at::Tensor& x, size_t number);
  at::Tensor view_of(const at::Tensor& x);
  at::Tensor returned(const at::Tensor& x);
  c10::Storage host_memory(const c10::Storage& original);
  const Memory* memory_of_host(const c10::Storage& host) const;
  [[noreturn]] void refuse_argument(size_t number, const std::string& received) const;

  const c10::OperatorHandle& op_;
  std::optional<at::Device> device_;
  std::vector<Borrowed> borrowed_;
  std::vector<Memory> memory_;
};

/// Returns a tensor of the CPU over the memory of a device tensor; `x` must outlive it.
at::Tensor host_view(const at::Tensor& x);

/// Calls the kernel of the CPU for `callee` with the arguments on the stack, which are those of `op`.
void run_on_host(const c10::OperatorHandle& op, const c10::OperatorHandle& callee, torch::jit::Stack* stack);

/// The fallback: every operation of libtorch that has a kernel of the CPU.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace slimbayes::simulated
