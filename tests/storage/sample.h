#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes::trial {

template <class T>
std::vector<std::byte> raw(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<std::byte> raw(const std::string& text) {
  return raw(std::vector<char>(text.begin(), text.end()));
}

// Returns a file with every type, a scalar, an empty array and text that needs escapes.
inline TensorFile sample() {
  TensorFile file;
  file.metadata = {{"method", "dbk"}, {"a note", "line\nbreak, \"quotes\", caf\u00e9"}, {"empty", ""}};
  file.tensors["flags"] = {StoredType::boolean, {3}, raw(std::vector<uint8_t>{1, 0, 1})};
  file.tensors["bytes"] = {StoredType::u8, {5}, raw(std::vector<uint8_t>{0, 1, 2, 254, 255})};
  file.tensors["half"] = {StoredType::f32, {2, 2}, raw(std::vector<float>{0.5F, -1.0F, 2.0F, 3e30F})};
  file.tensors["ints"] = {StoredType::i32, {1, 3}, raw(std::vector<int32_t>{-7, 0, 7})};
  file.tensors["longs"] = {StoredType::i64, {2}, raw(std::vector<int64_t>{-1, int64_t{1} << 60})};
  file.tensors["none"] = {StoredType::f64, {0, 4}, {}};
  file.tensors["scalar"] = {StoredType::f64, {}, raw(std::vector<double>{0.1})};
  file.tensors["weights"] = {StoredType::f64, {2, 3}, raw(std::vector<double>{1, 2, 3, 4, 5, 1e-300})};
  return file;
}

inline bool same(const TensorFile& a, const TensorFile& b) {
  const auto same_tensor = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.type == y.second.type && x.second.shape == y.second.shape &&
           x.second.bytes == y.second.bytes;
  };
  return a.metadata == b.metadata &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(), same_tensor);
}

// A temporary folder that its destructor removes.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "slimbayes-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace slimbayes::trial
