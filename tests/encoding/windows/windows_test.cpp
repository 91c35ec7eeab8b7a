#include "slimbayes/encoding/windows/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/encoding/windows/window_encoder.h"
#include "tests/data/tables.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

TEST(Windows, SeeTheirRowsAndAnswerForTheOneAhead) {
  const Table table = hourly(10);
  const Windows windows = find_windows(table, windows_of(4, 2));
  EXPECT_EQ(windows.last, (std::vector<int64_t>{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(windows.target, (std::vector<int64_t>{5, 6, 7, 8, 9, -1, -1}));
  EXPECT_EQ(windows.step, kHour);
  EXPECT_EQ(windows.forecast_times(windows_of(4, 2)).back(), 11 * kHour);  // after the table's last row
  const std::vector<int64_t> chosen = all_of(windows);
  const WindowEncoder encoder = WindowEncoder::fit(window_table_of(table, windows, chosen), encoding());
  EXPECT_EQ(encoder.schema().features, (std::vector<std::string>{"x", "y (past)"}));
  const WindowRows encoded = encoder.encode(window_table_of(table, windows, chosen));
  const std::vector<float> first = inputs_of_window(encoder, encoded, 0),  // [4, 2]
      last = inputs_of_window(encoder, encoded, 4);
  for (size_t i = 0; i < 8; i += 2) EXPECT_NEAR(last[i] - first[i], 4 / 2.2912878, 1e-5);  // the sd of 0 to 7
}

TEST(Windows, ReachOverNoGapAndNoSeries) {
  Table table = hourly(20);
  for (int64_t i = 12; i < 20; ++i) table.columns[0].values[static_cast<size_t>(i)] += 5 * kHour;
  const Windows windows = find_windows(table, windows_of(5));
  EXPECT_EQ(windows.last, (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19}));
  EXPECT_EQ(windows.target[7], -1);
  ASSERT_EQ(windows.notes.size(), 1u);
  expect_has(windows.notes[0], "1 gap in time (steps other than 3600 s): no window reaches over it");

  table = hourly(20);
  std::vector<double> of;
  for (int i = 0; i < 20; ++i) of.push_back(i % 2);
  table.columns.push_back(categories("g", of, {"a", "b"}));
  WindowOptions grouped = windows_of(4);
  grouped.group = {"g"};
  const Windows both = find_windows(table, grouped);
  EXPECT_EQ(both.step, 2 * kHour);
  EXPECT_EQ(both.last.size(), 14u);
  EXPECT_EQ(both.order[10], 1);     // the first row of the second series
  EXPECT_TRUE(both.notes.empty());  // the rows of each were in order
}

TEST(Windows, SortRowsAndRefuseTwoOfOneTime) {
  Table table = hourly(8);
  for (Column& column : table.columns) std::swap(column.values[2], column.values[6]);
  const Windows windows = find_windows(table, windows_of(3));
  EXPECT_EQ(windows.order[2], 6);
  expect_has(windows.notes.at(0), "sorted");
  table.columns[0].values[2] = table.columns[0].values[3];
  expect_has(error_of([&] { find_windows(table, windows_of(3)); }),
             "expected one row for each time; received the time of");
}

TEST(Windows, TimesComeFromSeveralColumns) {
  Table table = table_of({numbers("Year", {2012, 2012, 2012}), numbers("month", {2, 2, 3}),
                          numbers("day", {28, 29, 1}), numbers("y", {1, 2, 3})});
  WindowOptions parts{2, 1, {"Year", "month", "day"}, {}};
  const Windows windows = find_windows(table, parts);
  EXPECT_EQ(windows.step, 86400);
  EXPECT_EQ(windows.time[0], 1330387200);  // 2012-02-28T00:00:00Z
  EXPECT_EQ(windows.last.size(), 2u);
  table.columns[1].values[1] = 13;
  expect_has(error_of([&] { find_windows(table, parts); }), "data row 2: expected a month from 1 to 12");
  table.columns[1].values[1] = 2;
  table.columns[2].values[1] = 30;
  expect_has(error_of([&] { find_windows(table, parts); }),
             "data row 2: expected a day of the month 2012-02; received 30");
  parts.time = {"Year", "week"};
  expect_has(error_of([&] { find_windows(table, parts); }), "year, month, day, hour, minute, second");
}

TEST(Windows, RefuseWhatGivesNone) {
  const Table table = hourly(10);
  expect_has(
      error_of([&] { find_windows(table, windows_of(11, 2)); }),
      "at least 13 rows that follow each other in steps of 3600 s, for a window of 11 and a horizon of 2; "
      "received at most 10; lower `.window`");
  expect_has(
      error_of([&] { find_windows(table, windows_of(11, 2), kHour); }),
      "at least 11 rows that follow each other in steps of 3600 s, for a window of 11; received at most 10; "
      "give more rows");
  expect_has(error_of([&] { find_windows(table, windows_of(0)); }), "`.window` from 1");
  WindowOptions none = windows_of(3);
  none.time = {};
  expect_has(error_of([&] { find_windows(table, none); }), "`.time`");
  none.time = {"tt"};
  expect_has(error_of([&] { find_windows(table, none); }), "did you mean 't'?");
  Table missing = table;
  missing.columns[0].values[4] = kNone;
  expect_has(error_of([&] { find_windows(missing, windows_of(3)); }), "data row 5: expected a time in 't'");
}

TEST(Windows, TimesThatAreNotReadAreShownWithAWayOut) {
  Table table = hourly(3);
  table.columns[0] = categories("t", {0, 1, 2}, {"01/02/2014", "02/02/2014", "03/02/2014"});
  const std::string asked = error_of([&] { find_windows(table, windows_of(2)); });
  expect_has(asked, "expected ISO 8601 times (2014-12-31 or 2014-12-31T23:00:00) or numbers in 't'");
  expect_has(asked, "received a categorical column ('01/02/2014', ...)");
  expect_has(asked, "`.time=year,month,day`");
  const std::string fitted = error_of([&] { find_windows(table, windows_of(2), kHour); });
  expect_has(fitted, "write the times as in training");
  EXPECT_EQ(fitted.find("--"), std::string::npos) << fitted;
}

TEST(Windows, AFittedModelIsNotToldOfFlags) {
  Table table = hourly(8);
  table.columns[0].values[4] = table.columns[0].values[3];
  expect_has(error_of([&] { find_windows(table, windows_of(3)); }), "by `.group`");
  expect_has(error_of([&] { find_windows(table, windows_of(3), kHour); }),
             "the model was fitted on a single series");
  table.columns.push_back(categories("city", std::vector<double>(8, 0.0), {"oslo"}));
  WindowOptions grouped = windows_of(3);
  grouped.group = {"city"};
  expect_has(error_of([&] { find_windows(table, grouped, kHour); }),
             "the model tells series apart by city alone");
}

TEST(Windows, TheCalendarOfAllSeriesDecidesItsFeatures) {
  Table table = hourly(20 * 24);  // twenty days of one series, then ten hours of another
  std::vector<double> city(static_cast<size_t>(table.rows), 0.0);
  const Table other = hourly(10);
  for (size_t c = 0; c < table.columns.size(); ++c)
    table.columns[c].values.insert(table.columns[c].values.end(), other.columns[c].values.begin(),
                                   other.columns[c].values.end());
  city.insert(city.end(), 10, 1.0);
  table.rows += 10;
  table.columns.push_back({"city", ColumnKind::categorical, city, {"a", "b"}});
  WindowOptions how = windows_of(4);
  how.group = {"city"};
  const Windows windows = find_windows(table, how);
  const WindowEncoder encoder =
      WindowEncoder::fit(window_table_of(table, windows, all_of(windows)), encoding());
  EXPECT_NE(std::ranges::find(encoder.schema().features, "sine of the day of the week"),
            encoder.schema().features.end());
}

TEST(Windows, ATableWithoutTwoRowsOfASeriesHasNoStep) {
  const Table table = parse_csv("t,g,y\n2024-01-01,a,1\n2024-01-02,b,2\n", ',', {"w.csv"});
  try {
    find_windows(table, {4, 1, {"t"}, {"g"}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("no series with two rows"), std::string::npos) << text;
    EXPECT_EQ(text.find("steps of"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace slimbayes
