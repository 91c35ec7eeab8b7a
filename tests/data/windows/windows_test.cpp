#include "slimbayes/data/windows/windows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/windows/window_encoder.h"
#include "slimbayes/data/windows/window_split.h"
#include "tests/data/tables.h"
#include "tests/data/windows/window_tables.h"

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
  const Dataset data = encoder.dataset(window_table_of(table, windows, chosen), true);
  const Batch batch = data.source->rows(at::tensor(std::vector<int64_t>{4, 0}), {});
  EXPECT_EQ(batch.inputs[0].sizes(), at::IntArrayRef({2, 4, 2}));  // features: x and the target's past
  EXPECT_EQ(encoder.schema().features, (std::vector<std::string>{"x", "y (past)"}));
  const at::Tensor x = batch.inputs[0].select(2, 0);
  EXPECT_TRUE(at::allclose(x[0] - x[1], at::full({4}, 4 / 2.2912878, at::kFloat), 1e-5));  // the sd of 0 to 7
  const Task& task = encoder.schema().task;
  EXPECT_NEAR(batch.target[0].item<double>() * task.y_scale + task.y_shift, 90, 1e-9);
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
  EXPECT_EQ(both.order[10], 1);  // the first row of the second series
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
      "received at most 10; lower --window");
  expect_has(
      error_of([&] { find_windows(table, windows_of(11, 2), kHour); }),
      "at least 11 rows that follow each other in steps of 3600 s, for a window of 11; received at most 10; "
      "give more rows");
  expect_has(error_of([&] { find_windows(table, windows_of(0)); }), "--window from 1");
  WindowOptions none = windows_of(3);
  none.time = {};
  expect_has(error_of([&] { find_windows(table, none); }), "--time");
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
  expect_has(asked, "--time year,month,day");
  const std::string fitted = error_of([&] { find_windows(table, windows_of(2), kHour); });
  expect_has(fitted, "write the times as in training");
  EXPECT_EQ(fitted.find("--"), std::string::npos) << fitted;
}

TEST(Windows, AFittedModelIsNotToldOfFlags) {
  Table table = hourly(8);
  table.columns[0].values[4] = table.columns[0].values[3];
  expect_has(error_of([&] { find_windows(table, windows_of(3)); }), "by --group");
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

TEST(Windows, AreSplitByTimeAndNoRowIsSeenFromBothSides) {
  const Table table = hourly(400);
  const WindowOptions how = windows_of(6, 2);
  const Windows windows = find_windows(table, how);
  SplitOptions split{0.1, 0.2, "auto"};
  split.calibration_fraction = 0.15;
  const SplitRows parts = split_windows(windows, windows_with_target(table, windows, "y"), how, split);
  const auto rows = [&](const std::vector<int64_t>& part) {
    std::set<int64_t> seen;
    for (int64_t i : part) {
      for (int64_t p = windows.last[static_cast<size_t>(i)] - 5; p <= windows.last[static_cast<size_t>(i)];
           ++p)
        seen.insert(p);
      seen.insert(windows.target[static_cast<size_t>(i)]);
    }
    return seen;
  };
  int64_t before = -1;
  for (const auto* part : {&parts.train, &parts.valid, &parts.calibration, &parts.test}) {
    const std::set<int64_t> seen = rows(*part);
    EXPECT_GT(*seen.begin(), before);
    before = *seen.rbegin();
  }
  EXPECT_EQ(before, 399);
  EXPECT_NEAR(static_cast<double>(parts.test.size()), 0.2 * 393, 8);
  split.kind = "random";
  EXPECT_THROW(split_windows(windows, windows_with_target(table, windows, "y"), how, split),
               std::invalid_argument);
  split.kind = "auto";
  split.valid_fraction = 0.01;
  expect_has(
      error_of([&] { split_windows(windows, windows_with_target(table, windows, "y"), how, split); }),
      "parts longer than a window and its horizon, of 8 windows or more; received a part of 4 of the 393 "
      "windows (the longest run without a gap has 400 rows)");
}

TEST(Windows, WithoutATargetAreNotTrainedOnButAnswered) {
  Table table = hourly(60);
  table.columns[2].values[30] = kNone;
  const WindowOptions how = windows_of(4);
  const Windows windows = find_windows(table, how);
  SplitOptions split{0.2, 0, "auto"};
  const std::vector<int64_t> usable = windows_with_target(table, windows, "y");
  SplitRows parts = split_windows(windows, usable, how, split);
  for (int64_t& i : parts.train) i = usable[static_cast<size_t>(i)];
  for (int64_t i : parts.train) EXPECT_NE(windows.target[static_cast<size_t>(i)], 30);
  const WindowEncoder encoder = WindowEncoder::fit(window_table_of(table, windows, parts.train), encoding());
  // A missing value in the target's past is imputed and gets an indicator feature.
  const std::vector<std::string>& names = encoder.schema().features;  // then the hour of the day
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 3),
            (std::vector<std::string>{"x", "y (past)", "y (past) (missing)"}));
  std::vector<int64_t> every(windows.last.size());
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int64_t>(i);
  const Dataset data = encoder.dataset(window_table_of(table, windows, every), false);
  EXPECT_EQ(data.size(), 57);
  EXPECT_FALSE(data.source->rows(at::arange(3), {}).target.defined());
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
