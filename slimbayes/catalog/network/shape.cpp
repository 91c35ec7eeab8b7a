#include "slimbayes/catalog/network/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "slimbayes/catalog/option.h"

namespace slimbayes {

namespace {

constexpr int64_t kLargest = int64_t{1} << 24;

[[noreturn]] void refuse(const std::string& expected, const nlohmann::json& received) {
  throw std::invalid_argument(
      fmt::format("[shape_from_json] expected {}; received {}; the description of the network is damaged",
                  expected, detail::shown(received)));
}

std::string length_text(int64_t t) { return t < 0 ? "any length" : fmt::format("{}", t); }

}  // namespace

std::string text_of(const Shape& shape) {
  const auto& s = shape.sizes;
  if (shape.tokens) return s[0] < 0 ? "tokens" : fmt::format("up to {} tokens", s[0]);
  if (shape.is_vector()) return fmt::format("a vector of {}", s[0]);
  if (shape.is_sequence()) return fmt::format("a sequence of {} x {}", length_text(s[0]), s[1]);
  return fmt::format("an image of {}", fmt::join(s, " x "));
}

nlohmann::json to_json(const Shape& shape) {
  nlohmann::json json = {{"sizes", shape.sizes}};
  if (shape.tokens) json["tokens"] = true;
  return json;
}

Shape shape_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("sizes") || !json["sizes"].is_array() || json["sizes"].empty() ||
      json["sizes"].size() > 3)
    refuse("the sizes of a row, one to three", json);
  Shape shape;
  for (const nlohmann::json& size : json["sizes"]) {
    const bool whole = size.is_number_integer() &&
                       !(size.is_number_unsigned() && size.get<uint64_t>() > static_cast<uint64_t>(kLargest));
    const int64_t value = whole ? size.get<int64_t>() : 0;
    const bool may_vary = shape.sizes.empty() && value == -1;
    if (!may_vary && (value < 1 || value > kLargest))
      refuse(fmt::format("a size in [1, {}]", kLargest), size);
    shape.sizes.push_back(value);
  }
  if (json.contains("tokens")) {
    if (!json["tokens"].is_boolean()) refuse("true or false in 'tokens'", json["tokens"]);
    shape.tokens = json["tokens"].get<bool>();
  }
  if (shape.tokens && shape.sizes.size() != 1) refuse("one size of tokens", json);
  if (!shape.tokens && shape.sizes[0] < 0 && shape.sizes.size() != 2)
    refuse("a length of any size in sequences alone", json);
  return shape;
}

}  // namespace slimbayes
