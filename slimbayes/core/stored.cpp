#include "slimbayes/core/stored.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr std::pair<StoredType, at::ScalarType> kTypes[] = {
    {StoredType::f64, at::kDouble}, {StoredType::f32, at::kFloat}, {StoredType::i64, at::kLong},
    {StoredType::i32, at::kInt},    {StoredType::u8, at::kByte},   {StoredType::boolean, at::kBool}};

}  // namespace

StoredTensor to_stored(const at::Tensor& x) {
  at::Tensor flat = x.detach().to(at::kCPU).contiguous();
  for (auto [stored, type] : kTypes) {
    if (flat.scalar_type() != type) continue;
    StoredTensor out{stored, flat.sizes().vec(), std::vector<std::byte>(flat.nbytes())};
    if (flat.nbytes() > 0) std::memcpy(out.bytes.data(), flat.const_data_ptr(), flat.nbytes());
    return out;
  }
  refuse("to_stored", "float64, float32, int64, int32, uint8 or bool", at::toString(flat.scalar_type()));
}

at::Tensor from_stored(const StoredTensor& stored) {
  for (auto [type, scalar] : kTypes) {
    if (stored.type != type) continue;
    at::Tensor out = at::empty(stored.shape, at::TensorOptions().dtype(scalar));
    internal_check(out.nbytes() == stored.bytes.size(), "from_stored", "bytes do not match the shape");
    if (!stored.bytes.empty()) std::memcpy(out.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
    return out;
  }
  internal_check(false, "from_stored", "unknown type");
  return {};
}

at::Tensor stored_tensor(const TensorFile& file, const std::string& name) {
  auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw DataError(kContentsName, fmt::format("holds no tensor '{}'", name));
  return from_stored(found->second);
}

}  // namespace slimbayes
