#include "slimbayes/report/time_ticks.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace slimbayes {
namespace {

namespace chrono = std::chrono;

constexpr double kHour = 3600, kWholeDay = 86400;
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

chrono::year_month_day date_of(double seconds) {
  const auto days = static_cast<int>(std::floor(seconds / kWholeDay));
  return chrono::year_month_day(chrono::sys_days(chrono::days(days)));
}

const char* month_of(const chrono::year_month_day& date) {
  return kMonths[static_cast<unsigned>(date.month()) - 1];
}

std::vector<Tick> ticks_of_seconds(Extent extent, double step) {
  std::vector<Tick> ticks;
  for (double at = std::ceil(extent.low / step) * step; at <= extent.high; at += step) {
    const double of_day = at - std::floor(at / kWholeDay) * kWholeDay;
    const auto date = date_of(at);
    if (of_day >= 1)
      ticks.push_back({at, fmt::format("{:02}:{:02}", static_cast<int>(of_day / kHour),
                                       static_cast<int>(of_day / 60) % 60)});
    else
      ticks.push_back({at, fmt::format("{} {}", static_cast<unsigned>(date.day()), month_of(date))});
  }
  return ticks;
}

std::vector<Tick> ticks_of_months(Extent extent, int months) {
  std::vector<Tick> ticks;
  auto month = chrono::year_month(date_of(extent.low).year(), chrono::January);
  for (; ticks.size() < 100; month += chrono::months(months)) {
    const auto days = chrono::sys_days(month / 1).time_since_epoch().count();
    const double at = static_cast<double>(days) * kWholeDay;
    if (at > extent.high) break;
    if (at < extent.low) continue;
    const int year = static_cast<int>(month.year());
    ticks.push_back(
        {at, months % 12 == 0 ? fmt::format("{}", year) : fmt::format("{} {}", month_of(month / 1), year)});
  }
  return ticks;
}

}  // namespace

std::string years_text(Extent extent) {
  const auto year = [](double at) { return static_cast<int>(date_of(at).year()); };
  const int from = year(extent.low), to = year(extent.high);
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

std::vector<Tick> time_ticks(Extent extent, int most) {
  constexpr double kFirstYear = -6.2e10, kLastYear = 2.53e11;
  constexpr double kSteps[] = {60,         300,       900,           kHour,         3 * kHour,     6 * kHour,
                               12 * kHour, kWholeDay, 2 * kWholeDay, 5 * kWholeDay, 10 * kWholeDay};
  constexpr int kMonthSteps[] = {1, 2, 3, 6, 12, 24, 60, 120, 600, 1200};
  if (!(extent.low > kFirstYear && extent.high < kLastYear && extent.high > extent.low)) return {};
  const double span = extent.high - extent.low;
  for (double step : kSteps)
    if (span / step <= most) return ticks_of_seconds(extent, step);
  for (int months : kMonthSteps)
    if (span / (30.4 * kWholeDay * months) <= most) return ticks_of_months(extent, months);
  return {};
}

}  // namespace slimbayes
