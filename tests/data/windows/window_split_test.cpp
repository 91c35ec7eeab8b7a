#include "slimbayes/data/windows/window_split.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "slimbayes/data/windows/window_dataset.h"
#include "tests/data/tables.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

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
  const Dataset data = window_dataset(encoder, window_table_of(table, windows, every), false);
  EXPECT_EQ(data.size(), 57);
  EXPECT_FALSE(data.source->rows(at::arange(3), {}).target.defined());
}

}  // namespace
}  // namespace slimbayes
