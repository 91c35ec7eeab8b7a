#include "slimbayes/encoding/windows/gaps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/encoding/windows/window_encoder.h"
#include "slimbayes/encoding/windows/windows.h"
#include "tests/data/tables.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

/// Returns the rows of these hours: x = the hour, y = 10 x.
Table at_hours(const std::vector<double>& hours) {
  std::vector<double> time, y;
  for (const double hour : hours) time.push_back(hour * kHour), y.push_back(10 * hour);
  Table table = table_of({numbers("t", time), numbers("x", hours), numbers("y", y)});
  table.columns[0].kind = ColumnKind::datetime;
  return table;
}

/// Returns the hours from 0 to below `all` without those from `first` to below `end`.
std::vector<double> hours_without(int64_t all, int64_t first, int64_t end) {
  std::vector<double> hours;
  for (int64_t i = 0; i < all; ++i)
    if (i < first || i >= end) hours.push_back(static_cast<double>(i));
  return hours;
}

WindowOptions filling(int64_t window, int64_t horizon = 1) { return {window, horizon, {"t"}, {}, true}; }

/// Returns the windows of the filled table.
Windows filled(Table& table, const WindowOptions& options) {
  TimeSeries series = find_series(table, options);
  fill_gaps(table, series, options);
  return find_windows(table, std::move(series), options);
}

std::vector<int64_t> with_known_target(const Table& table, const Windows& windows) {
  return windows_with_target(table, windows, "y");
}

/// Returns the number of gaps of a series with these times.
int64_t gaps_in(const std::vector<double>& times, bool calendar = false) {
  Table table = table_of({numbers("t", times), numbers("y", std::vector<double>(times.size(), 1))});
  if (calendar) table.columns[0].kind = ColumnKind::datetime;
  return std::ssize(gaps_of(find_series(table, {3, 1, {"t"}, {}, false}), 3));
}

// Doubles near a time are rounded, but a wild time says nothing of the others.
TEST(gaps_of, AreThoseOfTheTimesAround) {
  for (const auto& [start, step] :
       {std::pair{0.0, 1.0}, {1e15, 1.0}, {-1e15, 1.0}, {0.0, 0.1}, {5e4, 1e-3}}) {
    std::vector<double> times;
    for (int i = 0; i < 60; ++i)
      if (i != 20 && i != 41) times.push_back(start + step * i);
    EXPECT_EQ(gaps_in(times), 2) << start << " " << step;
    times.push_back(1e300);
    EXPECT_EQ(gaps_in(times), 3) << start << " " << step;
  }
  std::vector<double> micro;
  for (int i = 0; i < 60; ++i)
    if (i != 20 && i != 41) micro.push_back(1704067200.0 + 1e-6 * i);
  EXPECT_EQ(gaps_in(micro, true), 2);
}

TEST(find_series, RefusesTimesThatCannotTellTheirSteps) {
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) times.push_back(1e16 + 2 * i);
  expect_has(error_of([&] { gaps_in(times); }), "count the times from the first one");
}

TEST(forecast_times, AreThoseOfTheTableOrDecimals) {
  std::vector<double> times, y(12, 1.0);
  for (int i = 0; i < 12; ++i) times.push_back(std::strtod(fmt::format("{:.1f}", 0.1 * i).c_str(), nullptr));
  const WindowOptions options{3, 1, {"t"}, {}, false};
  const std::vector<double> forecasts =
      find_windows(table_of({numbers("t", times), numbers("y", y)}), options).forecast_times(options);
  EXPECT_EQ(forecasts.front(), 0.3);
  EXPECT_EQ(forecasts.back(), 1.2);
}

TEST(fill_gaps, InsertsARowAtEachMissingStep) {
  Table table = at_hours(hours_without(20, 7, 9));
  const Windows windows = filled(table, filling(5));
  EXPECT_EQ(table.rows, 20);
  EXPECT_EQ(windows.inserted, 2);
  for (int64_t place = 0; place < 20; ++place) {
    EXPECT_EQ(windows.time[static_cast<size_t>(place)], static_cast<double>(place) * kHour);
    EXPECT_EQ(windows.is_inserted(place), place == 7 || place == 8);
    const auto row = static_cast<size_t>(windows.order[static_cast<size_t>(place)]);
    EXPECT_EQ(std::isnan(table.columns[1].values[row]), windows.is_inserted(place));
  }
  EXPECT_EQ(row_number(table, windows.order[8]), 7);  // the row before the gap, counted from 1
  EXPECT_EQ(row_number(table, windows.order[9]), 8);
  ASSERT_EQ(windows.notes.size(), 1u);
  expect_has(windows.notes[0], "2 rows inserted at 1 gap in time (it is after 1970-01-01T06:00:00): ");
}

TEST(fill_gaps, AWindowThatEndsInAnInsertedRowPredictsARowOfTheTableOrIsLeftOut) {
  for (const int64_t horizon : {1, 2, 3}) {
    Table table = at_hours(hours_without(20, 7, 10));
    const Windows windows = filled(table, filling(5, horizon));
    std::vector<int64_t> expected;
    for (int64_t last = 4; last < 20; ++last)
      if (last < 7 || last > 9 || last + horizon >= 10) expected.push_back(last);
    EXPECT_EQ(windows.last, expected) << horizon;
  }
}

TEST(fill_gaps, TheNoteOnGapsCountsTheWindowsThatFillingGains) {
  for (const auto& [first, end, horizon] :
       {std::tuple{7, 8, 1}, {7, 9, 1}, {7, 11, 2}, {1, 4, 1}, {17, 19, 3}}) {
    Table table = at_hours(hours_without(20, first, end));
    WindowOptions options = filling(5, horizon);
    options.fill_gaps = false;
    const Windows cut = find_windows(table, options);
    const int64_t without = std::ssize(cut.last);
    const int64_t with = std::ssize(filled(table, filling(5, horizon)).last);
    expect_has(cut.notes.at(0),
               fmt::format("no window reaches over it, which costs {} of {} windows; it is after",
                           with - without, with));
    expect_has(cut.notes.at(0), "; `.fill_gaps` inserts the missing rows");
  }
}

TEST(fill_gaps, LeavesGapsOfAWindowAndOfNoWholeNumberOfSteps) {
  for (std::vector<double> hours : {hours_without(20, 7, 12), hours_without(20, 20, 20)}) {
    if (hours.size() == 20) hours[19] = 1e9, hours[18] += 0.5;
    Table table = at_hours(hours);
    const int64_t rows = table.rows;
    const Windows windows = filled(table, filling(5));
    EXPECT_EQ(table.rows, rows);
    EXPECT_EQ(windows.inserted, 0);
    expect_has(windows.notes.at(0), "; `.fill_gaps` leaves ");
    expect_has(windows.notes.at(0), ": it inserts whole numbers of steps below a window (5)");
  }
}

TEST(fill_gaps, NamesTheSeriesWithMostGaps) {
  Table table = at_hours({0, 1, 2, 3, 5, 6, 7, 8, 9, 0, 1, 2, 4, 5, 6, 7, 9, 10});
  table.columns.push_back(categories("city", std::vector<double>(18, 0), {"oslo", "rome"}));
  for (size_t row = 9; row < 18; ++row) table.columns[3].values[row] = 1;
  WindowOptions options = filling(3);
  options.group = {"city"};
  expect_has(
      find_windows(table, options).notes.at(0),
      "3 gaps in time (steps other than 3600 s): no window reaches over one, which costs 9 of 17 windows; "
      "the first is after 1970-01-01T02:00:00, most are in city 'rome' (2); ");
  const Windows windows = filled(table, options);
  EXPECT_EQ(windows.inserted, 3);
  EXPECT_EQ(windows.last.size(), 17u);
  for (int64_t row = 18; row < 21; ++row)  // inserted rows keep their series
    EXPECT_EQ(table.columns[3].values[static_cast<size_t>(row)], row == 18 ? 0 : 1);
}

TEST(fill_gaps, KeepsTheCellsOfTheFile) {
  Reading reading;
  reading.kept = {"x", "g"};
  Table table = parse_csv("t,x,g\n0,1.50,a\n1,2.50,a\n3,4.50,a\n4,5.50,a\n", ',', {"w.csv", reading});
  TimeSeries series = find_series(table, {3, 1, {"t"}, {"g"}});
  fill_gaps(table, series, {3, 1, {"t"}, {"g"}});
  const Table rows = take_rows(table, series.order);
  EXPECT_EQ(format_csv(rows, ','), "t,x,g\n0,1.50,a\n1,2.50,a\n,,a\n3,4.50,a\n4,5.50,a\n");
}

TEST(fill_gaps, WithoutGapsGivesTheSameBits) {
  Table table = at_hours(hours_without(60, 60, 60));
  WindowOptions plain = filling(5);
  plain.fill_gaps = false;
  const Windows one = find_windows(table, plain), two = filled(table, filling(5));
  EXPECT_EQ(one.last, two.last);
  EXPECT_EQ(one.notes, two.notes);
  const std::vector<int64_t> chosen = with_known_target(table, one);
  const auto inputs = [&](const Windows& windows) {
    const WindowEncoder encoder = WindowEncoder::fit(window_table_of(table, windows, chosen), encoding());
    return encoder.encode(window_table_of(table, windows, chosen));
  };
  EXPECT_EQ(inputs(one).rows, inputs(two).rows);
  EXPECT_EQ(inputs(one).last, inputs(two).last);
}

TEST(carried, TheLastKnownCellStandsInAndTheIndicatorTellsSo) {
  Table table = at_hours(hours_without(20, 7, 9));
  const WindowOptions options = filling(5);
  table.columns[1].values[12] = kNone;  // hour 14: a missing cell of a row that is there
  const Windows windows = filled(table, options);
  const std::vector<int64_t> chosen = with_known_target(table, windows);
  for (int64_t i : chosen) EXPECT_FALSE(windows.is_inserted(windows.target[static_cast<size_t>(i)]));
  const WindowEncoder encoder = WindowEncoder::fit(window_table_of(table, windows, chosen), encoding());
  EXPECT_EQ(encoder.schema().features,
            (std::vector<std::string>{"x", "x (missing)", "y (past)", "y (past) (missing)"}));
  const WindowRows encoded = encoder.encode(window_table_of(table, windows, {4, 11}));
  const std::vector<float> first = inputs_of_window(encoder, encoded, 0),  // [5, 4]
      second = inputs_of_window(encoder, encoded, 1);
  ASSERT_EQ(windows.last[4], 9);  // the hours 5 to 9
  const std::vector<double> missing = {0, 0, 1, 1, 0};
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(first[4 * k + 1], missing[k]);
    EXPECT_EQ(first[4 * k + 3], missing[k]);
    if (k == 2 || k == 3) {
      EXPECT_EQ(first[4 * k], first[4]);
      EXPECT_EQ(first[4 * k + 2], first[4 + 2]);
    }
  }
  ASSERT_EQ(windows.last[11], 16);  // the hours 12 to 16
  EXPECT_EQ(second[4 * 2], second[4 * 1]);
  EXPECT_EQ(second[4 * 2 + 1], 1);
  EXPECT_EQ(second[4 * 2 + 3], 0);
  expect_has(encoder.rows().notes().at(0),
             "column 'x': 1 of 17 training cells are missing: carried forward from the last known one");
  EXPECT_EQ(encoder.rows().notes().size(), 1u);  // none on y, which only inserted rows lack
  EXPECT_EQ(WindowEncoder::from_json(encoder.to_json()).to_json(), encoder.to_json());
  EXPECT_TRUE(WindowEncoder::from_json(encoder.to_json()).options().fill_gaps);
}

TEST(carried, NotOverAGapNorIntoAnotherSeries) {
  Table table = at_hours({0, 1, 2, 30, 31, 32, 0, 1});
  table.columns.push_back(categories("city", {0, 0, 0, 0, 0, 0, 1, 1}, {"oslo", "rome"}));
  for (const size_t row : {1, 3, 4, 6, 7}) table.columns[1].values[row] = kNone;
  const TimeSeries series = find_series(table, {2, 1, {"t"}, {"city"}});
  const std::vector<double> x = carried(table, series, {"x"}).columns[1].values;
  EXPECT_EQ(x[1], 0);
  for (const size_t row : {3, 4, 6, 7}) EXPECT_TRUE(std::isnan(x[row])) << row;
  EXPECT_TRUE(std::isnan(carried(table, series, {"y"}).columns[1].values[1]));
}

}  // namespace
}  // namespace slimbayes
