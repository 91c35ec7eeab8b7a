#include "slimbayes/core/stored.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/json_depth.h"

namespace slimbayes {

namespace {

constexpr std::pair<StoredType, at::ScalarType> kTypes[] = {
    {StoredType::f64, at::kDouble}, {StoredType::f32, at::kFloat}, {StoredType::i64, at::kLong},
    {StoredType::i32, at::kInt},    {StoredType::u8, at::kByte},   {StoredType::boolean, at::kBool}};

// Stands for the name of the file in a DataError, because these functions do not know the name;
// read_contents() replaces it by the real one.
constexpr const char* kContents = "model file";

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
  if (found == file.tensors.end()) throw DataError(kContents, fmt::format("holds no tensor '{}'", name));
  return from_stored(found->second);
}

const std::string& stored_text(const TensorFile& file, const std::string& key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw DataError(kContents, fmt::format("holds no '{}'", key));
  return found->second;
}

nlohmann::json stored_json(const TensorFile& file, const std::string& key) {
  constexpr int kDeepest = 32;
  const std::string& text = stored_text(file, key);
  if (!nests_at_most(text, kDeepest))
    throw DataError(kContents, fmt::format("its '{}' is nested too deep", key));
  nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
  if (value.is_discarded()) throw DataError(kContents, fmt::format("its '{}' is not JSON", key));
  return value;
}

void read_contents(const std::string& file, const std::string& hint, const std::function<void()>& read) {
  const auto refuse = [&](std::string_view what) {
    const std::string own = std::string(kContents) + ": ";
    if (what.starts_with(own)) what.remove_prefix(own.size());
    throw DataError(file, fmt::format("{}; {}", what, hint));
  };
  try {
    read();
  } catch (const DataError& error) {
    refuse(error.what());
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  } catch (const NumericalError& error) {
    refuse(error.what());
  } catch (const nlohmann::json::exception&) {
    refuse("expected the metadata that slimbayes writes; received others: it is damaged");
  }
}

}  // namespace slimbayes
