#include "slimbayes/data/split/split.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "tests/data/split/split_tables.h"
#include "tests/data/tables.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

TEST(split_rows, sizes_are_the_ceilings) {
  for (int n : {2, 3, 10, 99, 100, 1001}) {
    for (double f : {0.0, 0.07, 0.1, 0.3}) {
      for (const char* kind : {"grouped", "random"}) {
        if (n < 4 && f > 0) continue;
        SplitRows rows = split_rows(distinct(n), options(f, f, kind), Stream(1));
        expect_partition(rows, n);
        auto size = static_cast<size_t>(std::lround(std::ceil(f * n - 1e-6)));
        EXPECT_EQ(rows.valid.size(), size) << n << " " << f;
        EXPECT_EQ(rows.test.size(), size) << n << " " << f;
      }
    }
  }
}

TEST(split_rows, folds_test_every_row_once) {
  std::vector<double> x;
  for (int i = 0; i < 103; ++i) x.push_back(i / 2);  // pairs stay together
  const Table t = table_of({numbers("x", x), numbers("y", std::vector<double>(x.size(), 1))});
  std::vector<int64_t> tested;
  SplitOptions asked = options(0.1, 0.2);
  asked.folds = 5;
  for (asked.fold = 0; asked.fold < 5; ++asked.fold) {
    const SplitRows rows = split_rows(t, asked, Stream(3));
    expect_partition(rows, 103);
    EXPECT_NEAR(static_cast<double>(rows.test.size()), 103 / 5.0, 2);
    EXPECT_GT(rows.valid.size(), 0U);
    tested.insert(tested.end(), rows.test.begin(), rows.test.end());
  }
  std::ranges::sort(tested);
  ASSERT_EQ(tested.size(), 103U);
  for (int64_t row = 0; row < 103; ++row) EXPECT_EQ(tested[static_cast<size_t>(row)], row);
  for (const int64_t folds : {-1, 1, 104}) {
    asked.folds = folds;
    asked.fold = 0;
    EXPECT_THROW(split_rows(t, asked, Stream(3)), std::invalid_argument) << folds;
  }
}

TEST(split_rows, the_seed_decides) {
  Table t = distinct(200);
  SplitRows a = split_rows(t, options(0.2, 0.1), Stream(1)), b = split_rows(t, options(0.2, 0.1), Stream(1));
  EXPECT_EQ(a.valid, b.valid);
  EXPECT_EQ(a.test, b.test);
  EXPECT_NE(a.test, split_rows(t, options(0.2, 0.1), Stream(2)).test);
  // If no input repeats, the grouped split equals the random one.
  EXPECT_EQ(a.test, split_rows(t, options(0.2, 0.1, "random"), Stream(1)).test);
}

TEST(split_rows, calibration_rows_come_from_the_training_rows_alone) {
  std::vector<double> x;
  for (int i = 0; i < 400; ++i) x.push_back(i / 4);  // groups of four
  Table t = table_of({numbers("x", x), numbers("y", std::vector<double>(x.size(), 1))});
  for (const char* kind : {"grouped", "random"}) {
    SplitOptions asked = options(0.2, 0.1, kind);
    SplitRows without = split_rows(t, asked, Stream(4));
    EXPECT_TRUE(without.calibration.empty());
    asked.calibration_fraction = 0.1;
    SplitRows rows = split_rows(t, asked, Stream(4));
    EXPECT_EQ(rows.test, without.test);
    EXPECT_EQ(rows.valid, without.valid);
    EXPECT_EQ(rows.calibration.size(), 40u);
    std::vector<int64_t> rest;
    std::merge(rows.train.begin(), rows.train.end(), rows.calibration.begin(), rows.calibration.end(),
               std::back_inserter(rest));
    EXPECT_EQ(rest, without.train);
    if (asked.kind == "random") continue;
    std::map<int64_t, int> count;
    for (int64_t row : rows.calibration) ++count[row / 4];
    for (auto [group, rows_of_it] : count) EXPECT_EQ(rows_of_it, 4) << group;
  }
}

TEST(split_rows, zero_fractions_leave_all_for_training) {
  SplitRows rows = split_rows(distinct(1), options(0, 0), Stream(1));
  EXPECT_EQ(rows.train, std::vector<int64_t>{0});
}

TEST(split_rows, errors) {
  auto split_error = [](const Table& t, SplitOptions o) {
    return error_of([&] { split_rows(t, o, Stream(1)); });
  };
  Table t = distinct(10);
  for (double bad : {-0.1, 1.0, 2.0, kNone}) {
    expect_has(split_error(t, options(bad, 0)), "a validation fraction from 0 to below 1");
    expect_has(split_error(t, options(0, bad)), "a test fraction from 0 to below 1");
  }
  SplitOptions greedy = options(0.4, 0.4);
  greedy.calibration_fraction = 0.2;
  expect_has(split_error(t, greedy), "fractions that leave rows for training; received 0.4 + 0.4 + 0.2");
  greedy.calibration_fraction = -0.1;
  expect_has(split_error(t, greedy), "a calibration fraction from 0 to below 1");
  expect_has(split_error(t, options(0.5, 0.5)), "fractions that leave rows for training");
  expect_has(split_error(t, options(0.1, 0, "sorted")),
             "a split 'auto', 'grouped' or 'random'; received sorted");
  expect_has(split_error(distinct(1), options(0.1, 0)), "rows left for training");
  expect_has(split_error(distinct(2), options(0.4, 0.4)), "rows left for training");
  expect_has(split_error(t, {0.1, 0, "grouped", {"yy"}}), "did you mean 'y'?");
  Table same = table_of({numbers("x", {1, 1, 1, 1}), numbers("y", {1, 2, 3, 4})});
  expect_has(
      split_error(same, options(0.25, 0)),
      "groups of at most 2 rows to hold out, for `.split=grouped`; received 4 of 4 rows in 1 larger groups "
      "of identical inputs; use `.split=auto`");
  Table pairs = table_of({numbers("x", {1, 1, 2, 2}), numbers("y", {1, 2, 3, 4})});
  expect_has(split_error(pairs, options(0.25, 0.25)),
             "none of 4 rows in 2 groups of identical inputs; use `.split=random`");
  EXPECT_EQ(split_rows(same, options(0.25, 0, "random"), Stream(1)).train.size(), 3u);
}

TEST(split_rows_real, red_wine_repeats_a_row_in_seven) {
  auto path = real_data("wine_red.csv.gz");
  if (!path) return;
  Table t = read_table(*path);
  auto shared = [&](const SplitRows& rows) {
    auto key = [&](int64_t row) {
      std::vector<double> cells;
      for (const Column& c : t.columns) {
        if (c.name != "y") cells.push_back(c.values[static_cast<size_t>(row)]);
      }
      return cells;
    };
    std::set<std::vector<double>> train;
    for (int64_t row : rows.train) train.insert(key(row));
    int64_t count = 0;
    for (int64_t row : rows.test) count += train.count(key(row));
    return count;
  };
  EXPECT_EQ(shared(split_rows(t, options(0.1, 0.1), Stream(0))), 0);
  EXPECT_GT(shared(split_rows(t, options(0.1, 0.1, "random"), Stream(0))), 10);
}

// For random group sizes, a held-out part has at least half and at most three times the rows asked for, and
// training keeps at least two thirds of what the fractions leave to it.
TEST(split_rows, parts_keep_near_their_shares) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const at::Tensor draw = Stream(seed).split("sizes").uniform({40}).contiguous();
    std::vector<double> x;
    for (int g = 0; g < 40; ++g) {
      const auto size = 1 + static_cast<int>(std::pow(draw[g].item<double>(), 8.0) * 60);
      x.insert(x.end(), static_cast<size_t>(size), g);
    }
    const auto n = static_cast<int64_t>(x.size());
    Table t = table_of({numbers("x", x), numbers("y", std::vector<double>(x.size(), 1))});
    for (double fraction : {0.05, 0.1, 0.25}) {
      SplitRows rows = split_rows(t, options(fraction, fraction, "auto"), Stream(seed));
      expect_partition(rows, n);
      const auto part = static_cast<size_t>(std::ceil(fraction * static_cast<double>(n) - 1e-9));
      for (const auto* list : {&rows.test, &rows.valid}) {
        EXPECT_GE(2 * list->size(), part);
        EXPECT_LE(list->size(), 3 * part);
      }
      EXPECT_GE(3 * (rows.train.size() + 2), 2 * (static_cast<size_t>(n) - 2 * part)) << seed;
    }
  }
}

}  // namespace
}  // namespace slimbayes
