#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/storage/dtype.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/mutator.h"

// Mutants of models of windows, images and texts.

namespace slimbayes::trial {

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

/// A change to what the encoder and the network, if there is one, say of an input, with or without others; of
/// an ensemble the network of one member.
inline void mutate_input(TensorFile& file, std::mt19937_64& random) {
  std::string network = "network";
  for (const auto& [name, text] : file.metadata)
    if (name.ends_with(".network")) network = name;
  const bool has_network = file.metadata.contains(network);
  const size_t action = has_network ? below(random, 6) : 3;
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

/// The same of a model of windows, images or texts, two times in three aimed at what it has beyond a table's.
inline Bytes mutant_of_input(const TensorFile& good, std::mt19937_64& random) {
  if (below(random, 3) == 0) return mutant_of(good, random);
  TensorFile file = good;
  mutate_input(file, random);
  return sealed(std::move(file));
}

}  // namespace slimbayes::trial
