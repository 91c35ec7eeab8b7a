#include "slimbayes/data/split/time_split.h"

#include <gtest/gtest.h>

#include "slimbayes/data/fit_examples.h"
#include "slimbayes/storage/error.h"
#include "tests/data/split/split_tables.h"

namespace slimbayes {
namespace {

using Rows = std::vector<int64_t>;

/// A table whose rows have these days since 1970, from the latest to the earliest if `kind` is datetime.
Table dated(std::vector<double> days, ColumnKind kind = ColumnKind::datetime) {
  for (double& day : days) day *= kind == ColumnKind::datetime ? 86400 : 1;
  std::vector<double> y(days.size(), 1);
  return table_of({{"date", kind, std::move(days), {}}, numbers("y", std::move(y))});
}

TEST(split_by_time, holds_out_the_latest_rows_in_order) {
  SplitOptions asked = options(0.2, 0.1, "auto");
  asked.calibration_fraction = 0.2;
  const SplitRows rows = split_by_time(dated({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}), {}, asked);
  EXPECT_EQ(rows.test, Rows{0});
  EXPECT_EQ(rows.calibration, (Rows{1, 2}));
  EXPECT_EQ(rows.valid, (Rows{3, 4}));
  EXPECT_EQ(rows.train, (Rows{5, 6, 7, 8, 9}));
  ASSERT_EQ(rows.notes.size(), 2U);
  EXPECT_EQ(rows.notes[0],
            "split by time ('date'): 5 training rows up to 1970-01-05, 2 validation rows from 1970-01-06, "
            "2 calibration rows from 1970-01-08, 1 test rows from 1970-01-10");
  expect_has(rows.notes[1], "`.ignore` 'date' leaves it out");
}

TEST(split_by_time, keeps_equal_times_in_the_later_part) {
  const SplitRows rows = split_by_time(dated({0, 1, 2, 3, 3, 3, 4, 4, 4, 4}), {}, options(0.1, 0.1, "auto"));
  EXPECT_EQ(rows.test, (Rows{6, 7, 8, 9}));
  EXPECT_EQ(rows.valid, (Rows{3, 4, 5}));
  EXPECT_EQ(rows.train, (Rows{0, 1, 2}));
  expect_has(error_of([] {
               split_by_time(dated({1, 1, 2, 2}), {}, options(0.3, 0.3, "auto"));
             }),
             "received 4 rows of 2 different times; lower the fractions");
}

TEST(split_by_time, takes_numbers_and_parts_of_dates_that_are_named) {
  const SplitRows rows =
      split_by_time(dated({2020, 2019, 2021}, ColumnKind::numeric), {"date"}, options(0, 0.3, "auto"));
  EXPECT_EQ(rows.test, Rows{2});
  expect_has(rows.notes[0], "up to 2020, 1 test rows from 2021");
  const Table parts =
      table_of({numbers("month", {12, 1, 2}), numbers("year", {2020, 2021, 2021}), numbers("y", {1, 2, 3})});
  EXPECT_EQ(split_by_time(parts, {"year", "month"}, options(0, 0.3, "auto")).test, Rows{2});
}

TEST(split_by_time, needs_one_column_of_times) {
  const auto asked = options(0, 0.3, "auto");
  Table two = dated({1, 2, 3});
  two.columns.push_back(two.columns[0]);
  two.columns.back().name = "other";
  expect_has(error_of([&] { split_by_time(two, {}, asked); }),
             "received 'date', 'other'; name one of them by `.time`");
  EXPECT_EQ(split_by_time(two, {"other"}, asked).test, Rows{2});
  expect_has(error_of([&] { split_by_time(distinct(5), {}, asked); }),
             "expected one column of dates for `.split=time`; received none");
  EXPECT_THROW(split_by_time(two, {"absent"}, asked), std::invalid_argument);
  EXPECT_THROW(split_by_time(dated({1, kNone, 3}), {}, asked), DataError);
  SplitOptions folds = asked;
  folds.folds = 2;
  EXPECT_THROW(split_by_time(two, {"date"}, folds), std::invalid_argument);
}

TEST(split_by_time, leaves_rows_of_wild_times_out_where_asked) {
  std::vector<double> days(60);
  for (size_t i = 0; i < days.size(); ++i) days[i] = 20454 + static_cast<double>(i);  // from 2026-01-01
  days[7] = 86202;                                                                    // 2206-01-06
  const Table table = dated(days);
  SplitOptions asked = options(0.1, 0.1, "auto");
  EXPECT_EQ(split_by_time(table, {}, asked).test.front(), 7);
  asked.without_wild_times = true;
  const SplitRows rows = split_by_time(table, {}, asked);
  EXPECT_EQ(rows.test, (Rows{54, 55, 56, 57, 58, 59}));
  EXPECT_EQ(rows.train.size() + rows.valid.size() + rows.test.size(), 59U);
  EXPECT_EQ(std::ranges::count(rows.train, 7), 0);
  expect_has(rows.notes[0],
             "the time 'date': 2206-01-06 (data row 8) lies far beyond the others, 2026-01-01 to 2026-03-01: "
             "the fit leaves the row out as wrong");
  days[7] = 20461;
  expect_has(split_by_time(dated(days), {}, asked).notes[0], "split by time");
}

TEST(split_examples, splits_tables_by_time_where_asked) {
  FitOptions fit;
  fit.target = "y";
  fit.split = "time";
  fit.test_fraction = 0.25;
  fit.valid_fraction = 0.25;
  const Table table = dated({3, 0, 2, 1});
  EXPECT_EQ(split_examples(table, fit).test, Rows{0});
  EXPECT_EQ(split_examples(table, fit).valid, Rows{2});
  fit.time = {"date"};
  check_examples(table, fit);
  fit.split = "auto";
  EXPECT_THROW(check_examples(table, fit), std::invalid_argument);  // `time` without a window
}

}  // namespace
}  // namespace slimbayes
