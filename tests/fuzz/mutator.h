#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "slimbayes/storage/dtype.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/storage/mutation.h"

namespace slimbayes::trial {

using nlohmann::json;

template <class T>
const T& one_of(const std::vector<T>& all, std::mt19937_64& random) {
  return all[below(random, all.size())];
}

inline json odd_value(std::mt19937_64& random) {
  static const std::vector<json> values = {nullptr,
                                           true,
                                           false,
                                           0,
                                           -1,
                                           1,
                                           2,
                                           3,
                                           1000,
                                           4096,
                                           1e300,
                                           -1e300,
                                           1e-300,
                                           0.5,
                                           -0.0,
                                           int64_t{1} << 40,
                                           std::numeric_limits<int64_t>::max(),
                                           std::numeric_limits<int64_t>::min(),
                                           std::numeric_limits<uint64_t>::max(),
                                           9e18,
                                           "",
                                           "1",
                                           "nan",
                                           "text",
                                           "\x1b[2J\xc2\x9b\x31m\xe2\x80\xae",
                                           std::string(300, 'a'),
                                           json::array(),
                                           json::object(),
                                           json::array({1, "a", nullptr}),
                                           json{{"a", 1}}};
  return one_of(values, random);
}

/// Appends a pointer to every value of a tree, the root first.
inline void collect(json& node, std::vector<json*>& all) {
  all.push_back(&node);
  if (!node.is_structured()) return;
  for (json& child : node) collect(child, all);
}

/// Changes one value of the tree: replaces it, or removes, repeats or exchanges its members.
inline void mutate_tree(json& root, std::mt19937_64& random) {
  std::vector<json*> all;
  collect(root, all);
  json& node = *one_of(all, random);
  const size_t action = below(random, 6);
  if (node.is_array() && !node.empty() && action < 3) {
    if (action == 0) node.erase(below(random, node.size()));
    const json copy = node.empty() ? json() : json(node[below(random, node.size())]);
    if (action == 1) {
      for (size_t i = 0, n = 1 + below(random, 40); i < n; ++i) node.push_back(copy);
    }
    if (action == 2) std::reverse(node.begin(), node.end());
  } else if (node.is_object() && !node.empty() && action < 3) {
    const auto at = std::next(node.begin(), static_cast<std::ptrdiff_t>(below(random, node.size())));
    if (action == 0) {
      node.erase(at);
    } else {
      at.value() = odd_value(random);
    }
  } else if (node.is_number() && action < 3) {
    const double x = node.get<double>();
    node = one_of<json>({x * 2, x + 1, x - 1, -x, x * 1e200, static_cast<int64_t>(below(random, 9))}, random);
  } else if (action == 3) {
    const json other = *one_of(all, random);
    node = other;
  } else {
    node = odd_value(random);
  }
}

inline void mutate_text(std::string& text, std::mt19937_64& random) {
  json tree = json::parse(text, nullptr, false);
  if (tree.is_structured() && below(random, 8) != 0) {
    for (size_t i = 0, n = 1 + below(random, 3); i < n; ++i) mutate_tree(tree, random);
    text = tree.dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  switch (below(random, 4)) {
    case 0:
      edit_number(text, random);
      break;
    case 1:
      text = std::string(below(random, 4000), "[{"[below(random, 2)]);
      break;
    case 2:
      text.resize(below(random, text.size() + 1));
      break;
    default: {
      const json value = odd_value(random);
      text = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  // A header must be UTF-8: a character that a cut damaged is replaced.
  text = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

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

/// One change below one member of an object, each member as likely as the others: among the values of an
/// encoder with many columns or words, the size of its window would seldom be met.
inline void mutate_member(std::string& text, std::mt19937_64& random) {
  json tree = json::parse(text, nullptr, false);
  if (!tree.is_object() || tree.empty()) return mutate_text(text, random);
  const auto at = std::next(tree.begin(), static_cast<std::ptrdiff_t>(below(random, tree.size())));
  mutate_tree(at.value(), random);
  text = tree.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Other rows for a tensor of the file: the first ones, and zeros.
inline void resize_rows(TensorFile& file, const std::string& name, int64_t rows) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end() || found->second.shape.empty() || rows < 0) return;
  std::vector<int64_t> shape = found->second.shape;
  shape[0] = rows;
  const auto size = byte_count(shape, found->second.type);
  if (!size || *size > (1 << 20)) return;
  found->second.shape = std::move(shape);
  found->second.bytes.resize(static_cast<size_t>(*size));
}

/// Another size of the input in the encoder and in the network, with the tensors that follow it: a change to
/// one of them alone is refused before the model is used.
inline void mutate_size(TensorFile& file, std::mt19937_64& random) {
  json encoder = json::parse(file.metadata.at("encoder")), network = json::parse(file.metadata.at("network"));
  json& sizes = network.at("input").at("sizes");
  const int64_t size = one_of<int64_t>({-1, 0, 1, 2, 3, 5, 8, 40, 72, 73, 1000, 65536, 100000, 100001,
                                        1 << 24, int64_t{1} << 40, std::numeric_limits<int64_t>::max()},
                                       random);
  if (encoder.at("kind") == "windows") {
    encoder["window"] = sizes[0] = size;
  } else if (encoder.at("kind") == "images") {
    const size_t axis = below(random, 3);
    encoder["size"][axis] = sizes[axis] = size;
    if (axis == 0 && size >= 0 && size <= 1000) {
      encoder["mean"] = std::vector<double>(static_cast<size_t>(size), 100);
      encoder["sd"] = std::vector<double>(static_cast<size_t>(size), 50);
    }
  } else if (below(random, 2) == 0) {
    encoder["longest"] = sizes[0] = size;
    resize_rows(file, "network.0.positions", size);
  } else if (size >= 0 && size <= 1000) {
    encoder["vocabulary"] = 2000;
    encoder["words"] = json::array();
    for (int64_t i = 0; i < size; ++i) encoder["words"].push_back("word" + std::to_string(i));
    const int64_t tokens = size + static_cast<int64_t>(below(random, 4));  // 2 more than words are right
    network["layers"][0]["tokens"] = tokens;
    resize_rows(file, "network.0.weight", tokens);
  }
  file.metadata["encoder"] = encoder.dump();
  file.metadata["network"] = network.dump();
}

/// A layer without tensors at the end of the network, or of a residual's body in it.
inline void add_layer(std::string& text, std::mt19937_64& random) {
  static const std::vector<const char*> kinds = {"activation",      "dropout",   "pool",    "flatten",
                                                 "mean_over_image", "last_step", "residual"};
  json network = json::parse(text);
  json layer = {{"kind", one_of(kinds, random)}};
  if (layer["kind"] == "residual") layer["body"] = json::array({{{"kind", "activation"}}});
  if (layer["kind"] == "pool") layer["size"] = 1 + below(random, 3);
  std::vector<json*> lists = {&network.at("layers")};
  for (json& each : network.at("layers"))
    if (each.contains("body")) lists.push_back(&each["body"]);
  one_of(lists, random)->push_back(layer);
  text = network.dump();
}

/// A change to what the encoder and the network say of an input, with or without others. The file is that of
/// a model with a network; of an ensemble the network of one member.
inline void mutate_input(TensorFile& file, std::mt19937_64& random) {
  std::string network = "network";
  for (const auto& [name, text] : file.metadata)
    if (name.ends_with(".network")) network = name;
  const size_t action = below(random, 6);
  if (action < 2 && network == "network")
    mutate_size(file, random);
  else if (action < 4)
    mutate_member(file.metadata.at("encoder"), random);
  else if (action == 4)
    mutate_member(file.metadata.at(network), random);
  else
    add_layer(file.metadata.at(network), random);
  if (below(random, 3) == 0) mutate_contents(file, random);
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

/// The same of a model of windows, images or texts, two times in three aimed at what it has beyond a table's.
inline Bytes mutant_of_input(const TensorFile& good, std::mt19937_64& random) {
  if (below(random, 3) == 0) return mutant_of(good, random);
  TensorFile file = good;
  mutate_input(file, random);
  return sealed(std::move(file));
}

}  // namespace slimbayes::trial
