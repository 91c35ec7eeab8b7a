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
  check(false, "to_stored", "float64, float32, int64, int32, uint8 or bool",
        at::toString(flat.scalar_type()));
  return {};
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
  if (found == file.tensors.end())
    throw DataError("model file", fmt::format("holds no tensor '{}'; fit it again", name));
  return from_stored(found->second);
}

const std::string& stored_text(const TensorFile& file, const std::string& key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw DataError("model file", fmt::format("holds no '{}'; fit it again", key));
  return found->second;
}

nlohmann::json stored_json(const TensorFile& file, const std::string& key) {
  constexpr int kDeepest = 32;
  auto bounded = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) throw DataError("model file", fmt::format("its '{}' is nested too deep", key));
    return true;
  };
  try {
    return nlohmann::json::parse(stored_text(file, key), bounded);
  } catch (const nlohmann::json::exception&) {
    throw DataError("model file", fmt::format("its '{}' is not JSON; fit it again", key));
  }
}

}  // namespace slimbayes
