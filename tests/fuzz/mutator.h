#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "slimbayes/storage/dtype.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/storage/mutation.h"

namespace slimbayes::trial {

template <class T>
void put_numbers(StoredTensor& tensor, std::mt19937_64& random, const std::vector<T>& values) {
  const size_t n = tensor.bytes.size() / sizeof(T);
  if (n == 0) return;
  const T value = one_of(values, random);
  const bool all = below(random, 3) == 0;
  const size_t first = all ? 0 : below(random, n), end = all ? n : first + 1;
  for (size_t i = first; i < end; ++i) std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

inline void mutate_values(StoredTensor& tensor, std::mt19937_64& random) {
  if (tensor.type == StoredType::f64)
    return put_numbers<double>(tensor, random,
                               {0, -1, 1e-300, 1e15, -1e30, 1e150, 1e300, -1e300, NAN, INFINITY, 1e-7, 50});
  if (tensor.type == StoredType::f32)
    return put_numbers<float>(tensor, random, {0, -1, 1e-38F, 1e10F, -1e30F, 3e38F, NAN, -INFINITY, 20});
  if (tensor.type == StoredType::i64)
    return put_numbers<int64_t>(tensor, random, {0, -1, 1, 60, 1000000, INT64_MAX, INT64_MIN});
  for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random() & 1);
}

/// Changes the shape or type and resizes the bytes accordingly.
inline void mutate_shape(StoredTensor& tensor, std::mt19937_64& random) {
  switch (below(random, 6)) {
    case 0:
      tensor.shape.push_back(1 + static_cast<int64_t>(below(random, 3)));
      break;
    case 1:
      if (!tensor.shape.empty()) tensor.shape.pop_back();
      break;
    case 2:
      std::reverse(tensor.shape.begin(), tensor.shape.end());
      break;
    case 3:
      if (!tensor.shape.empty())
        tensor.shape[below(random, tensor.shape.size())] = static_cast<int64_t>(below(random, 5));
      break;
    case 4:
      if (!tensor.shape.empty()) tensor.shape[0] += 1;
      break;
    default:
      tensor.type = one_of<StoredType>({StoredType::f64, StoredType::f32, StoredType::i64, StoredType::i32,
                                        StoredType::u8, StoredType::boolean},
                                       random);
  }
  const auto size = byte_count(tensor.shape, tensor.type);
  if (size && *size < (1 << 20)) {
    tensor.bytes.resize(static_cast<size_t>(*size));
  } else {
    tensor.shape = {0};
    tensor.bytes.clear();
  }
  if (tensor.type == StoredType::boolean)
    for (std::byte& byte : tensor.bytes) byte &= std::byte{1};
}

/// Makes one to three changes to metadata or tensors. The file still parses.
inline void mutate_contents(TensorFile& file, std::mt19937_64& random) {
  for (size_t i = 0, n = 1 + below(random, 3); i < n; ++i) {
    const bool metadata = file.tensors.empty() || (!file.metadata.empty() && below(random, 2) == 0);
    if (metadata && file.metadata.empty()) return;
    if (metadata) {
      const auto at =
          std::next(file.metadata.begin(), static_cast<std::ptrdiff_t>(below(random, file.metadata.size())));
      if (below(random, 12) == 0)
        file.metadata.erase(at);
      else
        mutate_text(at->second, random);
      continue;
    }
    const auto at =
        std::next(file.tensors.begin(), static_cast<std::ptrdiff_t>(below(random, file.tensors.size())));
    const size_t action = below(random, 12);
    if (action == 0)
      file.tensors.erase(at);
    else if (action == 1)
      at->second =
          std::next(file.tensors.begin(), static_cast<std::ptrdiff_t>(below(random, file.tensors.size())))
              ->second;
    else if (action < 6)
      mutate_shape(at->second, random);
    else
      mutate_values(at->second, random);
  }
}

/// The bytes of these contents under a right checksum.
inline Bytes sealed(TensorFile file) {
  file.metadata.erase("checksum");
  file.metadata.erase("format_version");
  return to_bytes(file);
}

/// Returns a mutant of a model file or checkpoint: mostly changed contents under a correct checksum, one time
/// in ten changed bytes (three quarters of these with a corrected checksum).
inline Bytes mutant_of(const TensorFile& good, std::mt19937_64& random) {
  if (below(random, 10) == 0) {
    Bytes bytes = to_bytes(good);
    mutate(bytes, random);
    if (bytes.size() >= kChecksumAt + kChecksumDigits && below(random, 4) != 0) seal(bytes);
    return bytes;
  }
  TensorFile file = good;
  mutate_contents(file, random);
  return sealed(std::move(file));
}

/// Gives an array of the file so many numbers, each 0.5.
inline void resize_numbers(TensorFile& file, const std::string& name, size_t count) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end() || found->second.type != StoredType::f64 || count > (1 << 18)) return;
  const std::vector<double> numbers(count, 0.5);
  found->second.shape = {static_cast<int64_t>(count)};
  found->second.bytes.resize(count * sizeof(double));
  if (count > 0) std::memcpy(found->second.bytes.data(), numbers.data(), count * sizeof(double));
}

/// Gives correlated logits another number of outputs and all their arrays the sizes for it, but for the
/// contrasts, which get any number of rows: random changes of one array at a time would all be refused.
/// Returns false where there are none.
inline bool resize_logits(TensorFile& file, std::mt19937_64& random) {
  json serve = json::parse(file.metadata.at("serve"), nullptr, false);
  std::vector<json*> all;
  collect(serve, all);
  std::erase_if(all, [](const json* node) { return !node->is_object() || !node->contains("outputs"); });
  if (all.empty()) return false;
  json& node = *one_of(all, random);
  const auto size = [&](const char* key) {
    const auto found = file.tensors.find(node.value(key, std::string()));
    return found == file.tensors.end() ? size_t{0} : found->second.bytes.size() / sizeof(double);
  };
  const size_t before = node.value("outputs", size_t{1});
  const size_t all_weights =
      node.contains("half") ? static_cast<size_t>(std::sqrt(size("half"))) : size("variances");
  const size_t k = 1 + below(random, 40), r = all_weights / before;
  node["outputs"] = k;
  const std::vector<std::pair<const char*, size_t>> sizes = {{"weights", k * r},
                                                             {"contrasts", k * (1 + below(random, k + 3))},
                                                             {"of_classes", k * k},
                                                             {"variances", r * k},
                                                             {"half", k * r * k * r}};
  for (const auto& [key, count] : sizes)
    if (node.contains(key)) resize_numbers(file, node[key].get<std::string>(), count);
  file.metadata["serve"] = serve.dump();
  return true;
}

/// Returns a mutant of a model file of which half have changes in what answers without libtorch are made of
/// (serve/serve_file.h).
inline Bytes mutant_for_serving(const TensorFile& good, std::mt19937_64& random) {
  const auto serve = good.metadata.find("serve");
  if (serve == good.metadata.end() || below(random, 2) == 0) return mutant_of(good, random);
  TensorFile file = good;
  const bool resized = below(random, 4) == 0 && resize_logits(file, random);
  if (!resized) mutate_text(file.metadata["serve"], random);
  return sealed(std::move(file));
}

}  // namespace slimbayes::trial
