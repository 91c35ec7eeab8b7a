#include "slimbayes/catalog/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/catalog/option.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

using nlohmann::json;

JsonReader::JsonReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) refuse(where_, "an object", detail::shown(object));
}

void JsonReader::check_type(bool ok, const char* key, const std::string& expected, const json& value) const {
  if (!ok) refuse(where_, fmt::format("{} for '{}'", expected, key), detail::shown(value));
}

const json& JsonReader::value(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) refuse(where_, fmt::format("a value for '{}'", key), "none");
  return *found;
}

int64_t JsonReader::count(const char* key, int64_t low, int64_t high) const {
  const json& x = value(key);
  const bool huge = x.is_number_unsigned() && x.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  const bool inside = x.is_number_integer() && !huge && x.get<int64_t>() >= low && x.get<int64_t>() <= high;
  if (!inside)
    refuse(where_, fmt::format("a whole number from {} to {} for '{}'", low, high, key), detail::shown(x));
  return x.get<int64_t>();
}

double JsonReader::number(const char* key) const {
  const json& x = value(key);
  check_type(x.is_number() && std::isfinite(x.get<double>()), key, "a finite number", x);
  return x.get<double>();
}

std::string JsonReader::text(const char* key) const {
  const json& x = value(key);
  check_type(x.is_string(), key, "text", x);
  return x.get<std::string>();
}

std::vector<std::string> JsonReader::texts(const char* key) const {
  const json& x = value(key);
  const bool all = x.is_array() && std::ranges::all_of(x, [](const json& each) { return each.is_string(); });
  check_type(all, key, "a list of texts", x);
  return x.get<std::vector<std::string>>();
}

}  // namespace slimbayes
