#include "slimbayes/encoding/windows/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace slimbayes {

namespace {

constexpr double kWeek = 7 * kDay, kYear = 365.2425 * kDay;

const char* period_name(double period) {
  return period == kDay ? "hour of the day" : period == kWeek ? "day of the week" : "day of the year";
}

}  // namespace

std::vector<double> calendar_periods(const Windows& windows, const std::vector<int64_t>& places) {
  const auto time_of = [&](int64_t place) { return windows.time[static_cast<size_t>(place)]; };
  const auto [first, last] = std::ranges::minmax(places, {}, time_of);  // earliest and latest, all series
  const double span = time_of(last) - time_of(first);
  std::vector<double> periods;
  for (double period : {kDay, kWeek, kYear}) {
    if (windows.calendar && windows.step <= period / 4 && span >= period) periods.push_back(period);
  }
  return periods;
}

bool are_calendar_periods(const std::vector<double>& periods) {
  const auto known = [](double period) { return period == kDay || period == kWeek || period == kYear; };
  return std::ranges::all_of(periods, known) &&
         std::ranges::adjacent_find(periods, std::greater_equal<>()) == periods.end();
}

std::vector<std::string> calendar_names(const std::vector<double>& periods) {
  std::vector<std::string> names;
  for (double period : periods) {
    for (const char* wave : {"sine", "cosine"})
      names.push_back(fmt::format("{} of the {}", wave, period_name(period)));
  }
  return names;
}

void calendar_features(double time, const std::vector<double>& periods, std::span<float> out) {
  for (size_t i = 0; i < periods.size(); ++i) {
    const double angle = time * (2 * std::numbers::pi / periods[i]);
    out[2 * i] = static_cast<float>(std::sin(angle));
    out[2 * i + 1] = static_cast<float>(std::cos(angle));
  }
}

}  // namespace slimbayes
