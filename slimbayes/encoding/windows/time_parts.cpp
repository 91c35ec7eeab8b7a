#include "slimbayes/encoding/windows/time_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/windows/time_series.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr const char* kParts[] = {"year", "month", "day", "hour", "minute", "second"};
constexpr double kLowParts[] = {1, 1, 1, 0, 0, 0}, kHighParts[] = {9999, 12, 31, 24, 59, 60};
constexpr size_t kSecond = 5;

/// Returns the number of days from 1970-01-01 to this date in the Gregorian calendar; none if the month has
/// no such day.
std::optional<int64_t> days_from(double year, double month, double day) {
  namespace chrono = std::chrono;
  const chrono::year_month_day date{chrono::year(static_cast<int>(year)),
                                    chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return chrono::sys_days(date).time_since_epoch().count();
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

TimeParts::TimeParts(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) {
    const auto found = std::ranges::find(kParts, lower_case(name));
    if (found == std::end(kParts))
      refuse("windows", "one time column, or those named year, month, day, hour, minute, second",
             in_quotes(name), "name them so, or join them to one column of times");
    part_.push_back(static_cast<size_t>(found - std::begin(kParts)));
  }
  if (std::ranges::find(part_, size_t{0}) == part_.end())
    refuse("windows", "a year among several time columns",
           foreign_text(fmt::format("{}", fmt::join(names_, ", "))));
}

RowTime TimeParts::of(std::span<const double> cells) const {
  double value[] = {0, 1, 1, 0, 0, 0};
  for (size_t i = 0; i < part_.size(); ++i) {
    const size_t p = part_[i];
    value[p] = cells[i];
    if (!(value[p] >= kLowParts[p] && value[p] <= kHighParts[p]) ||
        (p != kSecond && value[p] != std::floor(value[p])))
      return {0, fmt::format("expected a {} from {} to {} in {}; received {}; correct the cell", kParts[p],
                             kLowParts[p], kHighParts[p], in_quotes(names_[i]), value[p])};
  }
  const std::optional<int64_t> days = days_from(value[0], value[1], value[2]);
  if (!days)
    return {0, fmt::format("expected a day of the month {}-{:02}; received {}; correct the cell", value[0],
                           value[1], value[2])};
  return {static_cast<double>(*days) * kDay + value[3] * 3600 + value[4] * 60 + value[5]};
}

}  // namespace slimbayes
