#include "slimbayes/encoding/notes/column_notes.h"

#include <cmath>
#include <random>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

std::string range_of(Column column) {
  const Table table = table_of({std::move(column)});
  return range_note(table, table.columns[0], all_rows(table), "column 'x'");
}

/// Returns 1, 2, ..., 100.
std::vector<double> hundred() {
  std::vector<double> x(100);
  std::iota(x.begin(), x.end(), 1);
  return x;
}

TEST(range_note, names_column_row_and_value) {
  std::vector<double> x = hundred();
  EXPECT_EQ(range_of(numbers("x", x)), "");
  x[16] = 999999;
  expect_has(range_of(numbers("x", x)),
             "column 'x': 999999 (data row 17) stretches the range, 1 to 100 without it");
  expect_has(range_of(numbers("x", x)),
             "leave the cell empty if missing is meant (fit `.na` 999999 reads it so, in every column), or");
  x[3] = 999999;
  expect_has(range_of(numbers("x", x)), "999999 (2 cells, the first in data row 4) stretches");
  x[50] = 99999;  // two different marks for missing values
  expect_has(range_of(numbers("x", x)), "999999, 99999 (3 cells, the first in data row 4) stretch");
  x = hundred();
  x[7] = -999, x[99] = 999;  // one mark below the data and one above
  expect_has(range_of(numbers("x", x)),
             "999 (data row 100), -999 (data row 8) stretch the range, 1 to 99 without them");
  expect_has(range_of(numbers("x", x)), "(fit `.na` 999,-999 reads them so, in every column)");
  x = hundred();
  x[7] = -1e300;
  expect_has(range_of(numbers("x", x)), "-1e+300 (data row 8) stretches");
}

TEST(range_note, counts_rows_as_the_file_does_and_only_those_given) {
  std::vector<double> x = hundred();
  x[60] = 1e6;
  Table table = table_of({numbers("x", x)});
  EXPECT_EQ(range_note(table, table.columns[0], {0, 1, 2, 3, 4, 5}, "column 'x'"), "");
  Table some = take_rows(table, {10, 20, 30, 60});
  expect_has(range_note(some, some.columns[0], all_rows(some), "the target 'x'"),
             "the target 'x': 1000000 (data row 61)");
}

TEST(range_note, times_too) {
  Column days{"x", ColumnKind::datetime, {}, {}};
  for (int i = 0; i < 40; ++i) days.values.push_back(1577836800.0 + 86400 * i);
  EXPECT_EQ(range_of(days), "");
  days.values[5] = 253402214400.0;
  expect_has(range_of(days),
             "9999-12-31 (data row 6) stretches the range, 2020-01-01 to 2020-02-09 without it");
}

TEST(range_note, honest_columns_have_none) {
  EXPECT_EQ(range_of(numbers("x", {0, 0, 0, 0, 1})), "");                 // a rare event
  EXPECT_EQ(range_of(numbers("x", {0.001, 0.01, 0.1, 1, 10, 100})), "");  // powers of ten
  EXPECT_EQ(range_of(numbers("x", {1, 10, 100, 1000})), "");
  EXPECT_EQ(range_of(numbers("x", {0, 0, 0, 0, 0, 0, 1000, 1001, 1010})), "");  // mostly zeros
  std::vector<double> few;
  for (double value : {-5.0, -2.4, -2.3, -2.2, 0.0})
    few.insert(few.end(), 50, value);  // as in the column lcb of the yacht data
  EXPECT_EQ(range_of(numbers("x", few)), "");
  EXPECT_EQ(range_of(numbers("x", {7, 7, 7})), "");
  EXPECT_EQ(range_of(numbers("x", {kNone, kNone})), "");
  int heavy = 0;
  for (int i = 0; i < 50; ++i) {
    std::mt19937_64 random(static_cast<uint64_t>(i));
    std::lognormal_distribution<double> draw;
    std::vector<double> values(1000);
    for (double& value : values) value = draw(random);
    heavy += !range_of(numbers("x", std::move(values))).empty();
  }
  EXPECT_EQ(heavy, 0);
}

TEST(row_number_note, of_counters) {
  const auto counts = [](std::vector<double> values) {
    return !row_number_note(numbers("id", std::move(values))).empty();
  };
  EXPECT_TRUE(counts(hundred()));
  EXPECT_TRUE(counts({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(counts({5, 9, 12, 13, 20, 21, 30, 31, 40, 55}));  // a counter with gaps
  EXPECT_TRUE(counts({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_TRUE(counts({3, 7, 1, 10, 4, 2, 9, 8, 6, 5}));  // a shuffled counter
  EXPECT_FALSE(counts({0, 1, 2, 3, 4, 5, 6, 7, 8, 8}));
  EXPECT_FALSE(counts({0, 1, 2}));
  EXPECT_FALSE(counts({0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5}));
  EXPECT_FALSE(counts({0, 1, 2, 3, 4, 5, 6, 7, 8, kNone}));
  EXPECT_FALSE(counts({2010, 2010, 2011, 2011, 2012, 2012, 2013, 2013, 2014, 2014}));
  EXPECT_FALSE(counts({30, 7, 110, 1, 45, 22, 95, 81, 60, 50}));
  expect_has(row_number_note(numbers("id", hundred())),
             "column 'id' looks like the numbers of the rows (1, 2, 3, ...)");
  Column date = numbers("date", hundred());
  date.kind = ColumnKind::datetime;
  expect_has(row_number_note(date), "column 'date' rises from row to row and is an input: later rows will");
  std::swap(date.values[3], date.values[70]);
  EXPECT_EQ(row_number_note(date), "");
  EXPECT_EQ(
      row_label_note(numbers("id", hundred())),
      "column 'id' numbers the rows (1, 2, 3, ...): no input, because later rows lie outside its range; "
      "rename it in the table to use it");
}

/// Returns the code_note of a column in which each of these values stands `times` times.
std::string codes_of(const std::vector<double>& values, size_t times = 20) {
  std::vector<double> x;
  for (const double value : values) x.insert(x.end(), times, value);
  const Table table = table_of({numbers("x", std::move(x))});
  return code_note(table.columns[0], all_rows(table));
}

TEST(code_note, of_codes) {
  const std::vector<double> branches = {1001, 1002, 1004, 1010, 1032, 2001, 2002, 2044, 3001, 3017};
  EXPECT_EQ(
      codes_of(branches),
      "column 'x' holds 10 different whole numbers (1001, 1002, 1004, ...), taken as amounts; if they are "
      "codes, `.categorical` 'x'");
  EXPECT_NE(codes_of({10115, 10117, 10119, 10243, 12045}), "");  // postcodes
  EXPECT_NE(codes_of({101, 102, 205, kNone}), "");
  EXPECT_EQ(codes_of(branches, 9), "");
}

TEST(code_note, not_of_amounts_and_levels) {
  std::vector<double> counts, years, degrees;
  for (int i = 0; i <= 20; ++i) counts.push_back(i);
  for (int i = 1990; i <= 2018; ++i) years.push_back(i);
  for (int i = 110; i <= 135; ++i) degrees.push_back(i + (i > 130 ? i - 130 : 0));
  const std::vector<std::vector<double>> honest = {
      {1, 2, 3, 4, 5},
      counts,
      years,
      {1900, 1950, 1987, 2003, 2024},
      {202311, 202312, 202401, 202402},
      degrees,
      {1, 2, 3, 4, 5, 6, 7, 8, 24},
      {1, 3, 7, 14, 28, 56, 90, 91, 100, 120, 180, 270, 360, 365},
      {0, 15, 30},
      {32, 64, 128, 256},
      {128, 256, 512},
      {100, 250, 500},
      {199, 299, 499, 999},
      {1000, 1015, 1030, 1100, 1115},
      {293, 303, 313},
      {101, 108, 115, 122},
      {18, 25, 35, 45, 50, 56},
      {512, 768, 1024, 1536},
      {-205, -102, -101},
      {101.5, 102, 205},
      {101, 205}};
  for (const std::vector<double>& values : honest) EXPECT_EQ(codes_of(values), "") << values.front();
}

TEST(category_notes, of_codes_and_lookalikes) {
  const std::vector<std::string> zips = {"02139", "10001"}, styles = {"Colonial", "Ranch", "colonial"};
  ASSERT_EQ(category_notes(zips, false, "column 'zip'").size(), 1u);
  expect_has(category_notes(zips, false, "column 'zip'")[0],
             "column 'zip': leading zeros ('02139') make names");
  EXPECT_TRUE(category_notes(zips, true, "column 'zip'").empty());
  EXPECT_TRUE(category_notes({"10001", "94110"}, false, "column 'zip'").empty());
  EXPECT_TRUE(category_notes({"02139", "A1"}, false, "column 'zip'").empty());
  ASSERT_EQ(category_notes(styles, true, "column 's'").size(), 1u);
  expect_has(category_notes(styles, true, "column 's'")[0],
             "'Colonial' and 'colonial' differ by case or blanks alone");
}

TEST(category_notes, of_numbers_with_a_unit_or_with_marks) {
  const auto only = [](const std::vector<std::string>& levels, bool declared = false) {
    const std::vector<std::string> notes = category_notes(levels, declared, "column 'x'");
    EXPECT_LE(notes.size(), 1u);
    return notes.empty() ? std::string() : notes[0];
  };
  expect_has(only({"12 km", "13 km", "144 km"}),
             "column 'x': its categories look like numbers with a unit ('12 km')");
  std::vector<std::string> levels = {"-", "*"};
  for (int i = 1; i <= 20; ++i) levels.push_back(std::to_string(10 * i));
  expect_has(
      only(levels),
      "column 'x': its categories are numbers but for '-' and '*': if that marks missing cells, `.na` '-,*'");
  EXPECT_EQ(only(levels, true), "");
}

}  // namespace
}  // namespace slimbayes
