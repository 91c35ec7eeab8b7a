#include "cli/encoder_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cli/terminal.h"

namespace slimbayes::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostColumns = 60;
constexpr size_t kWidestName = 24;

/// Returns the text under `key`, made safe to print because a model file may come from anywhere; "" if the
/// value is missing or not a text.
std::string word(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? shown(found->get<std::string>()) : "";
}

bool is_set(const json& object, const char* key) { return object.value(key, json()) == true; }

std::optional<double> number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// Returns the first `size` bytes of the text followed by "...", without splitting a UTF-8 character. Returns
/// a text that is short enough unchanged.
std::string cut(std::string text, size_t size) {
  if (text.size() <= size) return text;
  text.resize(size);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  return text + "...";
}

std::string value_text(double value, bool time) {
  constexpr double year_0 = -62167219200, year_10000 = 253402300800;
  if (!time || !(value >= year_0 && value < year_10000)) return fmt::format("{:.6g}", value);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(value)));
}

/// Returns the range of a scaled column in training as text. Files of older versions hold only the column's
/// shift and scale; from these it returns the range (min-max) or the mean and sd. "" if these are missing
/// too.
std::string range_text(const json& column, const std::string& scale) {
  const bool time = word(column, "kind") == "datetime";
  const json range = column.value("range", json::object());
  const auto from_to = [&](double a, double b) {
    return fmt::format("from {} to {}", value_text(a, time), value_text(b, time));
  };
  if (const auto low = number(range, "low"), high = number(range, "high"); low && high)
    return from_to(*low, *high);
  const auto shift = number(column, "shift"), half = number(column, "scale");
  if (!shift || !half) return "";
  if (scale == "min-max") return from_to(*shift - *half, *shift + *half);
  return fmt::format("mean {}, sd {:.6g}{}", value_text(*shift, time), *half, time ? " s" : "");
}

std::string levels_text(const json& column) {
  const json levels = column.value("levels", json::array());
  if (!levels.is_array()) return "";
  std::string names;
  for (const json& level : levels) {
    if (names.size() > 60) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") +
             (level.is_string() ? cut(shown(level.get<std::string>()), kWidestName) : "?");
  }
  return fmt::format("{} categories{}: {}", levels.size(),
                     is_set(column, "other") ? " and one for the others" : "", names);
}

std::string fate(const json& column, const std::string& scale) {
  const std::string kind = word(column, "kind"), dropped = word(column, "dropped");
  const bool levels = !column.value("levels", json::array()).empty();
  std::string text;
  if (is_set(column, "scaled") && kind == "boolean")
    text = "yes or no";
  else if (is_set(column, "scaled"))
    text = fmt::format("{} {}", kind == "datetime" ? "time" : "number", range_text(column, scale));
  else
    text = levels ? levels_text(column) : "dropped" + (dropped.empty() ? "" : ": " + dropped);
  if (is_set(column, "indicator")) text += "; whether it is missing is an input too";
  return text;
}

}  // namespace

std::string columns_text(const json& whole, const std::string& weights) {
  const json rows = whole.value("rows", json()), time = whole.value("time", json::array());
  const json& encoder = rows.is_object() ? rows : whole;  // a window encoder contains the encoder of its rows
  const json columns = encoder.value("columns", json::array());
  std::vector<std::pair<std::string, std::string>> lines;
  size_t width = 0, all = 0;
  for (const json& column : columns.is_array() ? columns : json::array()) {
    if (!column.is_object() || !column.contains("name") || ++all > kMostColumns) continue;
    lines.emplace_back(cut(word(column, "name"), kWidestName), fate(column, word(encoder, "scale")));
    width = std::max(width, lines.back().first.size());
  }
  const json ignored = encoder.value("ignore", json::array());
  for (const json& name : ignored.is_array() ? ignored : json::array()) {
    if (!name.is_string() || ++all > kMostColumns) continue;
    const bool is_time = time.is_array() && std::ranges::find(time, name) != time.end();
    lines.emplace_back(cut(shown(name.get<std::string>()), kWidestName),
                       is_time           ? "time of the row, which orders the series"
                       : name == weights ? "weight of the row"
                                         : "ignored");
    width = std::max(width, lines.back().first.size());
  }
  std::string text;
  for (const auto& [name, what] : lines) text += fmt::format("  {:<{}}  {}\n", name, width, what);
  if (all > kMostColumns) text += fmt::format("  and {} more (--json has them all)\n", all - kMostColumns);
  return text;
}

std::string calendar_text(const json& encoder) {
  constexpr double kDay = 86400;  // seconds
  const json periods = encoder.value("periods", json::array());
  std::string text;
  for (const json& period : periods.is_array() ? periods : json::array()) {
    if (!period.is_number()) continue;
    const auto seconds = period.get<double>();
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        seconds == kDay       ? "hour of the day"
                        : seconds == 7 * kDay ? "day of the week"
                                              : "day of the year");
  }
  return text;
}

}  // namespace slimbayes::cli
