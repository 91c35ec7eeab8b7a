#include "tests/device/simulated/host_views.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "tests/device/simulated/count.h"
#include "tests/device/simulated/memory.h"
#include "tests/device/simulated/simulated.h"

namespace slimbayes::simulated {

namespace {

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view name_of_op(const c10::OperatorHandle& op) {
  std::string_view name = op.operator_name().name;
  return name.substr(name.find("::") + 2);
}

/// Operations other than those by elements that take a number of the CPU.
constexpr std::array<std::string_view, 5> kTakeNumbers = {"_index_put_impl_", "index_fill", "index_fill_",
                                                          "masked_fill", "masked_fill_"};
/// Operations that tell the host a number, or for which a GPU's host must know the size of the result.
constexpr std::array<std::string_view, 7> kWaits = {"equal",    "nonzero",    "masked_select",     "_unique",
                                                    "_unique2", "unique_dim", "unique_consecutive"};
constexpr std::array<std::string_view, 2> kIndexed = {"index", "_index_put_impl_"};

bool takes_numbers(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::pointwise) || among(kTakeNumbers, name_of_op(op));
}

/// Returns a tensor over a storage, with the shape and the strides of `like`.
at::Tensor over(const c10::Storage& storage, c10::DispatchKey key, const at::Tensor& like) {
  at::Tensor x =
      at::detail::make_tensor<at::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
  x.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return x;
}

c10::Storage host_storage(const c10::Storage& original) {
  void* at = kernel_address(original.data());
  return {c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(),
                                                static_cast<int64_t>(original.nbytes()),
                                                at::DataPtr(
                                                    at, nullptr, [](void*) {}, at::kCPU),
                                                c10::GetCPUAllocator(), /*resizable=*/true)};
}

/// Returns memory of the current device with these bytes.
at::DataPtr device_bytes(const c10::Storage& host) {
  at::DataPtr bytes = c10::GetAllocator(at::kPrivateUse1)->allocate(host.nbytes());
  if (host.nbytes() > 0) std::memcpy(kernel_address(bytes.get()), host.data(), host.nbytes());
  return bytes;
}

bool same_view(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.storage_offset() == b.storage_offset();
}

}  // namespace

at::Tensor host_view(const at::Tensor& x) {
  return over(host_storage(x.storage()), c10::DispatchKey::CPU, x);
}

void HostViews::refuse_argument(size_t number, const std::string& received) const {
  TORCH_CHECK(false, fmt::format("[simulated device] {}: expected argument {} on {}; received {}",
                                 op_.operator_name().name, op_.schema().arguments()[number].name(),
                                 device_ ? device_->str() : "one device", received));
}

c10::Storage HostViews::host_memory(const c10::Storage& original) {
  for (const Memory& each : memory_)
    if (each.original.unsafeGetStorageImpl() == original.unsafeGetStorageImpl()) return each.host;
  return memory_.emplace_back(original, host_storage(original)).host;
}

const HostViews::Memory* HostViews::memory_of_host(const c10::Storage& host) const {
  for (const Memory& each : memory_)
    if (each.host.unsafeGetStorageImpl() == host.unsafeGetStorageImpl()) return &each;
  return nullptr;
}

at::Tensor HostViews::view_of(const at::Tensor& x) {
  for (const Borrowed& each : borrowed_)
    if (each.original.is_same(x)) return each.view;
  return borrowed_.emplace_back(x, over(host_memory(x.storage()), c10::DispatchKey::CPU, x)).view;
}

at::Tensor HostViews::admitted(const at::Tensor& x, size_t number) {
  if (!x.defined()) return x;
  const auto described = [&] { return fmt::format("a tensor {} on {}", x.sizes(), x.device().str()); };
  if (x.is_privateuseone()) {
    if (device_ && *device_ != x.device()) refuse_argument(number, described());
    device_ = x.device();
    return view_of(x);
  }
  if (!x.is_cpu()) refuse_argument(number, described());
  const c10::Argument& argument = op_.schema().arguments()[number];
  if (among(kIndexed, name_of_op(op_)) && argument.name() == "indices") {
    count_to_device();
    return x;
  }
  const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  if (x.dim() > 0 || written || !takes_numbers(op_)) refuse_argument(number, described());
  return x;
}

c10::IValue HostViews::argument(const c10::IValue& value, size_t number) {
  if (value.isTensor()) return admitted(value.toTensor(), number);
  if (value.isTensorList()) {
    c10::List<at::Tensor> all;
    for (const at::Tensor& x : value.toTensorVector()) all.push_back(admitted(x, number));
    return all;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> all;
    for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector()) {
      if (x && x->defined() && (x->scalar_type() == at::kBool || x->scalar_type() == at::kByte)) count_item();
      all.push_back(x ? std::optional(admitted(*x, number)) : std::nullopt);
    }
    return all;
  }
  if (value.isDevice() && value.toDevice().is_privateuseone()) {
    device_ = value.toDevice();
    return at::Device(at::kCPU);
  }
  if (value.isGenerator()) refuse_argument(number, "a generator of " + value.toGenerator().device().str());
  return value;
}

void HostViews::settle() {
  const c10::DeviceGuard guard(device_.value_or(device()));
  for (const Memory& each : memory_) {
    if (each.host.data() == kernel_address(each.original.data())) continue;
    each.original.set_data_ptr_noswap(device_bytes(each.host));
    each.original.unsafeGetStorageImpl()->set_nbytes(each.host.nbytes());
  }
  for (const Borrowed& each : borrowed_)
    if (!same_view(each.original, each.view))
      each.original.unsafeGetTensorImpl()->set_sizes_and_strides(each.view.sizes(), each.view.strides(),
                                                                 each.view.storage_offset());
}

at::Tensor HostViews::returned(const at::Tensor& x) {
  if (!x.defined() || x.is_privateuseone()) return x;
  for (const Borrowed& each : borrowed_)
    if (each.view.is_same(x)) return each.original;
  const Memory* memory = memory_of_host(x.storage());
  if (memory == nullptr) {
    const c10::Storage made(c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), static_cast<int64_t>(x.storage().nbytes()),
        device_bytes(x.storage()), c10::GetAllocator(at::kPrivateUse1), /*resizable=*/true));
    memory = &memory_.emplace_back(made, x.storage());
  }
  return over(memory->original, c10::DispatchKey::PrivateUse1, x);
}

c10::IValue HostViews::result(const c10::IValue& value) {
  const c10::DeviceGuard guard(device_.value_or(device()));
  if (value.isTensor()) return returned(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> all;
  for (const at::Tensor& x : value.toTensorVector()) all.push_back(returned(x));
  return all;
}

void run_on_host(const c10::OperatorHandle& op, const c10::OperatorHandle& callee, torch::jit::Stack* stack) {
  const size_t arguments = callee.schema().arguments().size(), own = op.schema().arguments().size();
  HostViews views(op);
  torch::jit::Stack values;
  for (size_t i = 0; i < arguments; ++i) {
    const c10::IValue& value = torch::jit::peek(*stack, i, arguments);
    values.push_back(views.argument(value, std::min(i, own - 1)));
  }
  TORCH_CHECK(
      !op.hasTag(at::Tag::nondeterministic_seeded), "[simulated device] ", op.operator_name().name,
      ": expected numbers of a stream; received a call for the generator of the device, which has none");
  if (among(kWaits, name_of_op(op))) count_item();
  count_kernel();
  torch::jit::drop(*stack, arguments);
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    callee.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &values);
  }
  views.settle();
  for (const c10::IValue& value : values) torch::jit::push(*stack, views.result(value));
}

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { run_on_host(op, op, stack); }

}  // namespace slimbayes::simulated
