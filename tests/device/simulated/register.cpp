// The operations of the simulated device: those that make, copy or view memory, those that libtorch leaves to
// a device, and for all others the fallback.
#include "tests/device/simulated/register.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/SDPBackend.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include <set>
#include <string>

#include "tests/device/simulated/count.h"
#include "tests/device/simulated/host_views.h"
#include "tests/device/simulated/simulated.h"

namespace slimbayes::simulated {

namespace {

using OptionalType = std::optional<at::ScalarType>;
using OptionalLayout = std::optional<at::Layout>;
using OptionalDevice = std::optional<at::Device>;
using OptionalTensor = std::optional<at::Tensor>;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

void check_pinned(std::optional<bool> pinned) {
  TORCH_CHECK(!pinned.value_or(false), "[simulated device] only memory of the CPU can be pinned");
}

at::Tensor empty(at::IntArrayRef size, OptionalType type, OptionalLayout, OptionalDevice device,
                 std::optional<bool> pinned, std::optional<at::MemoryFormat> format) {
  check_pinned(pinned);
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(size, c10::GetAllocator(at::kPrivateUse1), kKeys,
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, OptionalType type, OptionalLayout,
                         OptionalDevice device, std::optional<bool> pinned) {
  check_pinned(pinned);
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(size, stride, c10::GetAllocator(at::kPrivateUse1), kKeys,
                                           c10::dtype_or_default(type));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (from.is_cpu())
    count_to_device();
  else if (to.is_cpu())
    count_to_host();
  else
    count_kernel();
  at::Tensor host = to.is_cpu() ? to : host_view(to);
  host.copy_(from.is_cpu() ? from : host_view(from));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar number_of(const at::Tensor& x) {
  count_item();
  return at::_local_scalar_dense(host_view(x));
}

at::Tensor& set_storage(at::Tensor& x, at::Storage source, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  TORCH_CHECK(source.device() == x.device(), "[simulated device] set_: expected memory of ", x.device(),
              "; received that of ", source.device());
  x.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(source));
  if (stride.data() == nullptr) {
    x.unsafeGetTensorImpl()->set_storage_offset(offset);
    x.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  } else {
    x.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  }
  return x;
}

at::Tensor& set_whole_storage(at::Tensor& x, at::Storage source) {
  const auto n = static_cast<int64_t>(source.nbytes() / x.element_size());
  return set_storage(x, std::move(source), 0, {n}, {});
}

at::Tensor& set_tensor(at::Tensor& x, const at::Tensor& source) {
  if (x.is_same(source)) return x;
  return set_storage(x, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor& set_nothing(at::Tensor& x) { return set_tensor(x, at::empty({0}, x.options())); }

void record_stream(at::Tensor&, at::Stream) {}

/// Attention by products and a softmax: there is no kernel that does all of it.
int64_t attention_kind(const at::Tensor&, const at::Tensor&, const at::Tensor&, const OptionalTensor&, double,
                       bool, std::optional<double>, bool) {
  return static_cast<int64_t>(at::SDPBackend::math);
}

/// Returns the hidden state, the cell and the gates' values of a step of an LSTM, with the gates i, f, g, o.
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates,
                                                         const at::Tensor& hidden_gates,
                                                         const at::Tensor& cell,
                                                         const OptionalTensor& input_bias,
                                                         const OptionalTensor& hidden_bias) {
  at::Tensor input = input_gates, hidden = hidden_gates;
  if (input_bias && input_bias->defined()) input = input + *input_bias;
  if (hidden_bias && hidden_bias->defined()) hidden = hidden + *hidden_bias;
  const std::vector<at::Tensor> gates = (hidden + input).unsafe_chunk(4, 1);
  const at::Tensor i = gates[0].sigmoid(), f = gates[1].sigmoid(), g = gates[2].tanh(),
                   o = gates[3].sigmoid();
  const at::Tensor after = f * cell + i * g;
  return {o * after.tanh(), after, at::cat({i, f, g, o}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(const OptionalTensor& grad_hidden,
                                                                  const OptionalTensor& grad_cell,
                                                                  const at::Tensor& cell,
                                                                  const at::Tensor& after,
                                                                  const at::Tensor& values, bool has_bias) {
  if (!(grad_hidden && grad_hidden->defined()) && !(grad_cell && grad_cell->defined())) return {};
  const std::vector<at::Tensor> gates = values.chunk(4, 1);
  const at::Tensor &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3];
  const auto or_zero = [&](const OptionalTensor& x) { return x && x->defined() ? *x : at::zeros_like(cell); };
  const at::Tensor squashed = after.tanh(), hidden = or_zero(grad_hidden);
  const at::Tensor grad = or_zero(grad_cell) + hidden * o * (1 - squashed * squashed);
  const at::Tensor grad_gates = at::cat({grad * g * i * (1 - i), grad * cell * f * (1 - f),
                                         grad * i * (1 - g * g), hidden * squashed * o * (1 - o)},
                                        1);
  return {grad_gates, grad * f, has_bias ? grad_gates.sum(0) : at::Tensor()};
}

c10::OperatorHandle operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
}

void convolution(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const c10::OperatorHandle callee = operation("aten::convolution");
  run_on_host(op, callee, stack);
}

/// The same arguments as convolution_backward, but for the shape of the bias behind the weight.
void convolution_backward(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  static const c10::OperatorHandle callee = operation("aten::convolution_backward");
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const int64_t channels = first->toTensor().size(1);
  stack->insert(first + 3, c10::IValue(std::vector<int64_t>{channels}));
  run_on_host(op, callee, stack);
}

const std::set<std::string>& own_operations() {
  static const std::set<std::string> all = {"aten::empty.memory_format",
                                            "aten::empty_strided",
                                            "aten::_copy_from",
                                            "aten::_copy_from_and_resize",
                                            "aten::_local_scalar_dense",
                                            "aten::as_strided",
                                            "aten::view",
                                            "aten::_reshape_alias",
                                            "aten::set_.source_Storage",
                                            "aten::set_.source_Storage_storage_offset",
                                            "aten::set_.source_Tensor",
                                            "aten::set_",
                                            "aten::record_stream",
                                            "aten::_fused_sdp_choice",
                                            "aten::_thnn_fused_lstm_cell",
                                            "aten::_thnn_fused_lstm_cell_backward_impl",
                                            "aten::convolution_overrideable",
                                            "aten::convolution_backward_overrideable"};
  return all;
}

void register_own(torch::Library& library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", number_of);
  library.impl("as_strided", at::native::as_strided_tensorimpl);
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("set_.source_Storage", set_whole_storage);
  library.impl("set_.source_Storage_storage_offset", set_storage);
  library.impl("set_.source_Tensor", set_tensor);
  library.impl("set_", set_nothing);
  library.impl("record_stream", record_stream);
  library.impl("_fused_sdp_choice", attention_kind);
  library.impl("_thnn_fused_lstm_cell", lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  library.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  library.impl("convolution_backward_overrideable",
               torch::CppFunction::makeFromBoxedFunction<&convolution_backward>());
}

/// Operations with a kernel of the CPU and one that is composed of others. libtorch prefers the latter to a
/// fallback, with other bits than the CPU's, so that they get the fallback by name.
void register_by_name(torch::Library& library) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::string whole = c10::toString(name);
    if (!name.name.starts_with("aten::") || own_operations().contains(whole)) continue;
    const std::optional<c10::OperatorHandle> op = c10::Dispatcher::singleton().findOp(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    for (const c10::DispatchKey composed :
         {c10::DispatchKey::CompositeImplicitAutograd, c10::DispatchKey::CompositeExplicitAutograd,
          c10::DispatchKey::CompositeExplicitAutogradNonFunctional}) {
      if (!op->hasKernelForDispatchKey(composed)) continue;
      library.impl(whole.c_str() + 6, torch::CppFunction::makeFromBoxedFunction<&fallback>());
      break;
    }
  }
}

}  // namespace

void register_operations() {
  static torch::Library all(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  all.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  register_own(aten);
  register_by_name(aten);
}

}  // namespace slimbayes::simulated
