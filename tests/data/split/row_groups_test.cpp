// Splits of tables whose rows repeat inputs.
#include "slimbayes/data/split/row_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/split/split.h"
#include "tests/data/split/split_tables.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

TEST(split_rows, identical_inputs_stay_together) {
  std::vector<double> x, c, y;
  for (int i = 0; i < 300; ++i) {
    x.push_back(i % 30 == 0 ? kNone : i % 2 ? i % 30 : -(i % 30));
    c.push_back(i % 3);
    y.push_back(i);  // rows with equal inputs have different targets
  }
  x[2] = x[32] = 0.0, x[62] = -0.0;
  c[2] = c[32] = c[62] = 0;
  Table t = table_of({numbers("x", x), categories("c", c, {"a", "b", "c"}), numbers("y", y)});
  std::set<int> zeros;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SplitRows rows = split_rows(t, options(0.2, 0.2), Stream(seed));
    expect_partition(rows, 300);
    std::map<std::pair<double, double>, int> side;
    int part = 0;
    for (const auto* list : {&rows.train, &rows.valid, &rows.test}) {
      for (int64_t row : *list) {
        auto r = static_cast<size_t>(row);
        double key = std::isnan(x[r]) ? 1e9 : x[r] == 0 ? 0 : x[r];
        EXPECT_EQ(side.try_emplace({key, c[r]}, part).first->second, part);
      }
      ++part;
    }
    for (const auto* list : {&rows.valid, &rows.test}) {
      EXPECT_GE(list->size(), 60u);
      EXPECT_LT(list->size(), 60u + 13u);  // at most one group beyond the 60 rows
    }
  }
}

TEST(split_rows, an_identifier_does_not_part_identical_inputs) {
  std::vector<double> x, id, y;
  std::vector<std::string> names;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i / 4);
    id.push_back(i);
    y.push_back(i);
    names.push_back("id" + std::to_string(i));
  }
  Table t = table_of({numbers("x", x), categories("id", id, names), numbers("y", y)});
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SplitRows rows = split_rows(t, options(0.2, 0.2), Stream(seed));
    expect_partition(rows, 120);
    for (const auto* list : {&rows.train, &rows.valid, &rows.test}) {
      std::map<int64_t, int> count;
      for (int64_t row : *list) ++count[row / 4];
      for (auto [group, rows_of_it] : count) EXPECT_EQ(rows_of_it, 4) << group;
    }
  }
  // If the identifier is the only input, it decides the groups; the encoder reports the problem later.
  Table alone = table_of({categories("id", id, names), numbers("y", y)});
  EXPECT_EQ(split_rows(alone, options(0.2, 0.2), Stream(1)).test.size(), 24u);
}

TEST(split_rows, a_declared_column_without_a_name_is_an_input) {
  std::vector<double> x, label, y;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i / 4);
    label.push_back(i % 2);
    y.push_back(i);
  }
  const Table t = table_of({categories("Unnamed: 0", label, {"a", "b"}), numbers("x", x), numbers("y", y)});
  SplitOptions without = options(0.2, 0.2), with = without;
  with.declared = {"Unnamed: 0"};
  EXPECT_EQ(alike_rows(t, without).count, 30);
  EXPECT_EQ(alike_rows(t, with).count, 60);
}

TEST(split_rows, few_inputs_in_many_rows_are_split_one_by_one) {
  std::vector<double> x, y;
  for (int i = 0; i < 300; ++i) x.push_back(i % 3), y.push_back(i);
  Table t = table_of({numbers("x", x), numbers("y", y)});
  EXPECT_TRUE(row_groups(t, options(0.1, 0.1, "auto")).singly);
  SplitRows automatic = split_rows(t, options(0.1, 0.1, "auto"), Stream(1));
  EXPECT_EQ(automatic.valid, split_rows(t, options(0.1, 0.1, "random"), Stream(1)).valid);
  EXPECT_EQ(automatic.valid.size(), 30u);
  ASSERT_EQ(automatic.notes.size(), 2u);
  expect_has(automatic.notes[0], "few different inputs (3), each in many rows");
  expect_has(automatic.notes[1], "60 of 60 held-out rows have the inputs of a training row");
  // Whole inputs can be held out only if the held-out part is as large as an input's group.
  expect_has(error_of([&] { split_rows(t, options(0.1, 0.1, "grouped"), Stream(1)); }),
             "300 of 300 rows in 3 larger groups");
  SplitRows grouped = split_rows(t, options(0.33, 0), Stream(1));
  EXPECT_EQ(grouped.valid.size(), 100u);
  EXPECT_TRUE(grouped.notes.empty());
  grouped = split_rows(t, options(0.4, 0.4), Stream(1));  // training keeps one group, so each part gets one
  EXPECT_EQ(grouped.valid.size(), 100u);
  EXPECT_EQ(grouped.test.size(), 100u);
  ASSERT_EQ(grouped.notes.size(), 2u);
  expect_has(grouped.notes[0], "the test part has 100 of the 120 rows that were asked for");
  // With ten rows per input, "auto" still splits by groups.
  for (int i = 0; i < 300; ++i) t.columns[0].values[static_cast<size_t>(i)] = i % 30;
  EXPECT_FALSE(row_groups(t, options(0.1, 0.1, "auto")).singly);
  EXPECT_TRUE(split_rows(t, options(0.1, 0.1, "auto"), Stream(1)).notes.empty());
}

/// Returns n rows: the first `heavy` rows share one input, every other row has its own.
Table one_heavy_input(int n, int heavy) {
  Table t = distinct(n);
  for (int i = 0; i < heavy; ++i) t.columns[0].values[static_cast<size_t>(i)] = -1;
  return t;
}

TEST(split_rows, training_keeps_its_share_beside_an_input_in_most_rows) {
  Table t = one_heavy_input(1000, 800);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SplitOptions asked = options(0.1, 0.1, "auto");
    SplitRows rows = split_rows(t, asked, Stream(seed));
    expect_partition(rows, 1000);
    EXPECT_EQ(rows.test.size(), 100u);
    EXPECT_EQ(rows.valid.size(), 100u);
    ASSERT_EQ(rows.notes.size(), 2u);
    expect_has(rows.notes[0], "800 of 1000 rows repeat 1 input too often");
    expect_has(rows.notes[0], "split one by one");
    const auto repeated = std::ranges::count_if(rows.test, [](int64_t row) { return row < 800; }) +
                          std::ranges::count_if(rows.valid, [](int64_t row) { return row < 800; });
    expect_has(rows.notes[1], std::to_string(repeated) + " of 200 held-out rows have the inputs of a");
    asked.calibration_fraction = 0.1;
    EXPECT_EQ(split_rows(t, asked, Stream(seed)).test, rows.test);
    EXPECT_EQ(split_rows(t, asked, Stream(seed)).calibration.size(), 100u);
    // The grouped split keeps the frequent input in training and holds out a tenth of the other rows.
    rows = split_rows(t, options(0.1, 0.1), Stream(seed));
    expect_partition(rows, 1000);
    EXPECT_EQ(rows.test.size(), 20u);
    EXPECT_EQ(rows.valid.size(), 20u);
    EXPECT_GE(rows.test[0], 800);
    EXPECT_GE(rows.valid[0], 800);
    ASSERT_EQ(rows.notes.size(), 1u);
    expect_has(rows.notes[0], "they stay in training, and the held-out parts are fractions of the other 200");
  }
}

TEST(split_rows, a_split_row_by_row_says_how_many_inputs_it_repeats) {
  std::vector<double> x;
  for (int i = 0; i < 400; ++i) x.push_back(i / 4);
  Table t = table_of({numbers("x", x), numbers("y", std::vector<double>(x.size(), 1))});
  EXPECT_TRUE(split_rows(t, options(0.1, 0.1), Stream(1)).notes.empty());
  SplitRows rows = split_rows(t, options(0.1, 0.1, "random"), Stream(1));
  ASSERT_EQ(rows.notes.size(), 1u);
  expect_has(rows.notes[0], "of 80 held-out rows have the inputs of a training row");
  EXPECT_TRUE(split_rows(distinct(400), options(0.1, 0.1, "random"), Stream(1)).notes.empty());
}

TEST(row_groups, are_what_the_split_deals) {
  Table t = table_of({numbers("x", {3, 1, 3, 2, 1, 3}), numbers("y", {1, 2, 3, 4, 5, 6})});
  const RowGroups groups = row_groups(t, options(0, 0, "grouped"));
  EXPECT_EQ(groups.of, (std::vector<int64_t>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(groups.count, 3);
  EXPECT_EQ(groups_among(groups, {3, 4, 1, 3}), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(row_groups(t, options(0, 0, "random")).of, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  Table heavy = one_heavy_input(100, 60);
  EXPECT_EQ(row_groups(heavy, options(0.1, 0.1, "auto")).count, 100);
  EXPECT_EQ(row_groups(heavy, options(0.1, 0.1, "auto")).large_rows, 60);
  EXPECT_EQ(row_groups(heavy, options(0, 0, "auto")).count, 41);
  EXPECT_EQ(row_groups(heavy, options(0.1, 0.1)).count, 41);
  Table few = table_of({numbers("x", std::vector<double>(30, 1)), numbers("y", std::vector<double>(30, 1))});
  EXPECT_TRUE(row_groups(few, options(0, 0, "auto")).singly);
  EXPECT_EQ(row_groups(few, options(0, 0, "auto")).count, 30);
}

}  // namespace
}  // namespace slimbayes
