#include "slimbayes/data/rows/wild_rows.h"

#include "slimbayes/core/random.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// y = 50 + 10 x + noise beside x and an input that says nothing; 300 rows.
Table line() {
  std::vector<double> x, other, y;
  for (uint64_t i = 0; i < 300; ++i) {
    x.push_back(Stream(1).normal(i));
    other.push_back(Stream(2).normal(i));
    y.push_back(50 + 10 * x.back() + 2 * Stream(3).normal(i));
  }
  return table_of({numbers("x", x), numbers("other", other), numbers("y", y)});
}

double& cell(Table& table, size_t column, size_t row) { return table.columns[column].values[row]; }

WildRows found_in(const Table& table, std::optional<LikelihoodKind> likelihood = {}) {
  return wild_rows(table, all_rows(table), "y", {}, likelihood);
}

TEST(wild_rows, NamesTheCellsOfTargetAndInputs) {
  Table table = line();
  EXPECT_TRUE(found_in(table).rows.empty());
  EXPECT_TRUE(found_in(table).notes.empty());
  cell(table, 2, 37) = 1e6;
  cell(table, 1, 5) = -1e9;
  const WildRows wild = found_in(table);
  EXPECT_EQ(wild.rows, (std::vector<int64_t>{5, 37}));
  EXPECT_EQ(wild.of_target, 1);
  ASSERT_EQ(wild.notes.size(), 2u);
  expect_has(wild.notes[0], "the target 'y': 1000000 (data row 38) lies far beyond the other cells, ");
  expect_has(wild.notes[0],
             "the fit leaves the row out as wrong: correct or remove it, or take it as right by ");
  expect_has(wild.notes[1], "column 'other': -1000000000 (data row 6) lies far beyond");
}

TEST(wild_rows, LooksAtTheRowsOfTheFitAlone) {
  Table table = line();
  cell(table, 2, 37) = 1e6;
  EXPECT_TRUE(
      wild_rows(table, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, "y", {}, {})
          .rows.empty());
  cell(table, 1, 5) = 1e9;
  EXPECT_EQ(wild_rows(table, all_rows(table), "y", {"other"}, {}).rows, std::vector<int64_t>{37});
}

TEST(wild_rows, FarTargetsThatAnInputTellsAreData) {
  Table table = line();
  std::vector<int64_t> far;
  for (size_t i = 0; i < 300; ++i)
    if (cell(table, 0, i) > 2) {
      cell(table, 2, i) = 1e6 + static_cast<double>(i);
      far.push_back(static_cast<int64_t>(i));
    }
  ASSERT_GE(far.size(), 2u);
  ASSERT_LE(far.size(), 6u);
  const WildRows told = found_in(table);
  EXPECT_TRUE(told.rows.empty());
  ASSERT_EQ(told.notes.size(), 1u);
  expect_has(told.notes[0], "fitted as right, because an input tells them from the others");
  std::swap(table.columns[0].values, table.columns[1].values);
  table = take_rows(table, all_rows(table));
  EXPECT_TRUE(found_in(table).rows.empty());  // whichever input it is
  Table chance = line();
  for (const int64_t row : {10, 120, 250}) cell(chance, 2, static_cast<size_t>(row)) = 1e6;
  EXPECT_EQ(found_in(chance).rows, (std::vector<int64_t>{10, 120, 250}));
}

TEST(wild_rows, ACategoryMayTellFarTargets) {
  Table table = line();
  std::vector<double> unit(300, 0);
  for (const size_t row : {10, 120, 250}) cell(table, 2, row) *= 1e6, unit[row] = 1;
  table.columns.push_back(categories("unit", unit, {"tonne", "gram"}));
  EXPECT_TRUE(found_in(table).rows.empty());
}

TEST(wild_rows, InputsInManyRowsAreMarksOfMissingCells) {
  Table table = line();
  for (int c = 0; c < 20; ++c) {
    std::vector<double> x;
    for (uint64_t i = 0; i < 300; ++i) x.push_back(Stream(10 + static_cast<uint64_t>(c)).normal(i));
    for (size_t k = 0; k < 3; ++k) x[static_cast<size_t>(c) * 7 + k] = -9e9;
    table.columns.push_back(numbers("c" + std::to_string(c), x));
  }
  const WildRows wild = found_in(table);
  EXPECT_TRUE(wild.rows.empty());
  ASSERT_FALSE(wild.notes.empty());
  expect_has(wild.notes[0], "wild inputs are in 60 of 300 rows, too many for errors");
}

TEST(wild_rows, ClassesKeepTwoRows) {
  Table table = line();
  std::vector<double> kind(300, 0);
  kind[5] = kind[6] = 1;
  table.columns[2] = categories("y", kind, {"a", "b"});
  cell(table, 1, 5) = 1e9;
  EXPECT_TRUE(found_in(table).rows.empty());
  table.columns[2].values[7] = 1;
  EXPECT_EQ(found_in(table).rows, std::vector<int64_t>{5});
}

TEST(wild_rows, TwoNumbersAndOneFarAreFitted) {
  Table table = line();
  for (size_t i = 0; i < 300; ++i) cell(table, 2, i) = static_cast<double>(i % 2);
  cell(table, 2, 9) = 1e6;
  EXPECT_TRUE(found_in(table).rows.empty());
  EXPECT_EQ(found_in(table, LikelihoodKind::gaussian).rows, std::vector<int64_t>{9});
}

TEST(wild_rows, TimesAreInputsToo) {
  Table table = line();
  Column time = numbers("time", {});
  time.kind = ColumnKind::datetime;
  for (int i = 0; i < 300; ++i) time.values.push_back(1.7e9 + 3600.0 * ((i * 7) % 300));
  time.values[11] = 7e9;  // the year 2191
  table.columns.push_back(time);
  EXPECT_EQ(found_in(table).rows, std::vector<int64_t>{11});
}

}  // namespace
}  // namespace slimbayes
