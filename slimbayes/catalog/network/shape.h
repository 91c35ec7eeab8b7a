#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {

/// The shape of one row inside a network, without the batch dimension: {d} for a vector, {t, d} for a
/// sequence of t vectors, {c, h, w} for an image, {t} with `tokens` set for a sequence of t tokens (whole
/// numbers). t = -1 means any length.
struct Shape {
  std::vector<int64_t> sizes;
  bool tokens = false;

  bool is_vector() const { return sizes.size() == 1 && !tokens; }
  bool is_sequence() const { return sizes.size() == 2; }
  bool is_image() const { return sizes.size() == 3; }
  /// Returns the number of features of a vector or of each step of a sequence.
  int64_t width() const { return sizes.empty() ? 0 : sizes.back(); }

  /// Returns the number of elements of a row; of a row of any length that of one step.
  int64_t numel() const {
    int64_t all = sizes.empty() ? 0 : 1;
    for (const int64_t size : sizes) all *= size < 0 ? 1 : size;
    return all;
  }

  bool operator==(const Shape&) const = default;
};

/// Formats a shape for messages, such as "a vector of 8", "a sequence of 24 x 8", "an image of 3 x 32 x 32"
/// or "up to 256 tokens".
SLIMBAYES_EXPORT std::string text_of(const Shape& shape);

SLIMBAYES_EXPORT nlohmann::json to_json(const Shape& shape);
SLIMBAYES_EXPORT Shape
shape_from_json(const nlohmann::json& json);  // throws std::invalid_argument for an impossible shape

}  // namespace slimbayes
