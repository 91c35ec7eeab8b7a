#include "slimbayes/catalog/option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string_view part = list.substr(at, end - at);
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    parts.emplace_back(part.substr(0, part.find_last_not_of(" \t") + 1));
    at = end + 1;
  }
  return parts;
}

std::string number_text(double x) {
  const bool whole = x == std::trunc(x) && std::abs(x) < 1e15;
  const std::string text = whole ? fmt::format("{:.0f}", x) : fmt::format("{:g}", x);
  return text == "1" && x != 1 ? fmt::format("{}", x) : text;
}

std::string range_text(const Range& range, bool whole) {
  constexpr double kPastLargest = 18446744073709551616.0;  // 2^64
  const auto text = [&](double x) {
    return whole && x >= kPastLargest ? std::to_string(std::numeric_limits<uint64_t>::max()) : number_text(x);
  };
  if (!range.without_low && !range.without_high)
    return fmt::format("from {} to {}", text(range.low), text(range.high));
  return fmt::format("{} {} and {} {}", range.without_low ? "above" : "of at least", text(range.low),
                     range.without_high ? "below" : "at most", text(range.high));
}

bool contains(const Range& range, double x) {
  return (range.without_low ? x > range.low : x >= range.low) &&
         (range.without_high ? x < range.high : x <= range.high);
}

}  // namespace slimbayes

namespace slimbayes::detail {

using nlohmann::json;

std::string shown(const json& value) {
  // A nested value is not printed: printing recurses, and a hostile file may nest deeply.
  if (value.is_structured()) return fmt::format("an {} of {} entries", value.type_name(), value.size());
  // dump() would print nan and inf as null.
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return foreign_text(text.size() <= 80 ? text : text.substr(0, 77) + "...");
}

namespace {

// The message names the option by its token (option_tokens.h), which front ends spell as a flag or a keyword.
[[noreturn]] void refuse(const OptionDoc& doc, const std::string& expected, const json& value,
                         std::string_view owner, const std::string& hint) {
  throw std::invalid_argument(fmt::format("[{}] expected `.{}` to be {}; received {}; {}", owner, doc.name,
                                          expected, shown(value), hint));
}

// Returns whether the value is a whole number. Accepts one that is written as a double, such as 1e4, but only
// up to 2^53, because a larger double does not identify one integer.
bool is_whole(const json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const double x = value.get<double>();
  return std::abs(x) <= 9007199254740992.0 && x == std::trunc(x);
}

bool has_type(const OptionDoc& doc, const json& value) {
  if (doc.type == "boolean") return value.is_boolean();
  if (doc.type == "integer") return is_whole(value);
  if (doc.type == "number") return value.is_number();
  if (doc.type == "list")
    return value.is_array() && std::ranges::all_of(value, [](const json& word) { return word.is_string(); });
  return value.is_string();
}

}  // namespace

void check_option(const OptionDoc& doc, const json& value, std::string_view owner) {
  const std::string article = doc.type == "integer" ? "an " : doc.type == "text" ? "" : "a ";
  if (!has_type(doc, value)) {
    refuse(doc, article + doc.type, value, owner, "the default is " + shown(doc.fallback));
  }
  if (doc.range) {
    const auto inside = [&](const json& number) { return contains(*doc.range, number.get<double>()); };
    // As doubles, because -1 and 2^64 - 1 are equal as JSON.
    if (!inside(value) && value.get<double>() != doc.fallback.get<double>()) {
      const std::string bounds =
          fmt::format("{}{} {}", article, doc.type, range_text(*doc.range, doc.type == "integer"));
      refuse(doc, bounds, value, owner,
             inside(doc.fallback) ? "the default is " + shown(doc.fallback) : "leave it out for the default");
    }
  }
  if (!doc.choices.empty() && std::ranges::find(doc.choices, value.get<std::string>()) == doc.choices.end()) {
    refuse(doc, fmt::format("one of {}", fmt::join(doc.choices, ", ")), value, owner,
           nearest_hint(value.get<std::string>(), doc.choices));
  }
}

void check_keys(const json& given, const std::vector<OptionDoc>& docs, std::string_view owner) {
  if (!given.is_object()) {
    throw std::invalid_argument(
        fmt::format("[{}] expected options as a JSON object; received {}; write {{\"name\": "
                    "value}}",
                    owner, shown(given)));
  }
  std::vector<std::string> names;
  for (const OptionDoc& doc : docs) names.push_back(doc.name);
  for (const auto& item : given.items()) {
    if (std::ranges::find(names, item.key()) != names.end()) continue;
    throw std::invalid_argument(fmt::format("[{}] expected an option of this method; received '{}'; {}",
                                            owner, foreign_text(item.key()),
                                            nearest_hint(item.key(), names)));
  }
}

}  // namespace slimbayes::detail
