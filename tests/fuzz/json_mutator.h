#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

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

/// One change below one member of an object, each member as likely as the others: among the values of an
/// encoder with many columns or words, the size of its window would seldom be met.
inline void mutate_member(std::string& text, std::mt19937_64& random) {
  json tree = json::parse(text, nullptr, false);
  if (!tree.is_object() || tree.empty()) return mutate_text(text, random);
  const auto at = std::next(tree.begin(), static_cast<std::ptrdiff_t>(below(random, tree.size())));
  mutate_tree(at.value(), random);
  text = tree.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace slimbayes::trial
