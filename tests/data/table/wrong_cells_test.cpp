#include "slimbayes/data/table/wrong_cells.h"

#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

std::string error_of(const std::string& text, const Reading& reading = {}) {
  try {
    parse_csv(text, ',', {"t.csv", reading});
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(wrong_cells, are_named_all_at_once) {
  EXPECT_EQ(
      error_of(
          "range,price,y\n150,10,1\n144 km,12,2\n-,-,3\n160,$13,4\n12 km,14,5\n-,15,6\n151,,7\n152,,8\n"),
      "t.csv:3:1: expected numbers in column 'range', as in most of its cells; received '144 km' (data row "
      "2), "
      "'-' (3), '12 km' (5): 4 of 8 cells; "
      "expected numbers in column 'price', as in most of its cells; received '-' (data row 3), '$13' (4): 2 "
      "of 6 cells; "
      "write numbers without their unit, '144 km' as 144; write numbers such as '$13' by digits and a "
      "decimal point "
      "alone, as in 13000.5; "
      "fit `.na` '-' reads such cells as missing; `.categorical` 'range,price' takes whole columns as names");
}

TEST(wrong_cells, advice_fits_the_cells) {
  const auto advice = [](const std::string& cells) {
    const std::string error = error_of("x\n1\n2\n3\n4\n" + cells);
    return error.substr(error.find("cells; ", error.find("received")) + 7);
  };
  EXPECT_TRUE(advice("cheap\n").starts_with("correct the cell, or leave it empty"));
  EXPECT_TRUE(advice("no data\nno data\n").starts_with("fit `.na` 'no data' reads such cells as missing"));
  EXPECT_TRUE(advice("#DIV/0!\n.\n").starts_with("fit `.na` '#DIV/0!,.' reads"));
  EXPECT_TRUE(advice("\"a, b\"\n\"a, b\"\n").starts_with("correct the cell"));  // a comma would part the mark
  EXPECT_TRUE(advice("5 %\n").starts_with("write numbers such as '5 %' by digits"));
  // Many different words mark nothing.
  EXPECT_EQ(error_of("x\n1\n2\n3\n4\n5\n6\n7\na\na\nb\nc\nd\ne\nf\n").find("`.na`"), std::string::npos);
}

TEST(wrong_cells, of_a_known_kind_and_of_dates) {
  const Reading known{{{"x", ColumnKind::numeric}, {"b", ColumnKind::boolean}, {"d", ColumnKind::datetime}}};
  const std::string error = error_of("x,b,d\n1 m,maybe,2020-01-01\n2 m,yes,soon\n", known);
  EXPECT_TRUE(
      error.starts_with("t.csv:2:1: expected numbers in column 'x'; received '1 m' (data row 1), '2 m' (2): "
                        "2 of 2 cells; expected yes or no in column 'b'; received 'maybe' (data row 1): 1 of "
                        "2 cells; expected ISO dates"))
      << error;
  EXPECT_EQ(error.find("`.categorical`"), std::string::npos);
  // The file can be mended at once, the model only by another fit.
  EXPECT_TRUE(error_of("x\n-\n", known)
                  .ends_with("1 of 1 cells; correct the cell, or leave it empty if it is "
                             "missing; fit `.na` '-' reads such cells as missing"));
  EXPECT_TRUE(error_of("x\n1\ninf\n-inf\n")
                  .starts_with("t.csv:3:1: expected finite numbers in column 'x'; received "
                               "'inf' (data row 2), '-inf' (3): 2 of 3 cells"));
}

TEST(wrong_cells, of_many_columns_are_counted) {
  std::string header, good, bad;
  for (int i = 0; i < 20; ++i) {
    header += (i == 0 ? "c" : ",c") + std::to_string(i);
    good += i == 0 ? "1" : ",1";
    bad += i == 0 ? "oops" : ",oops";
  }
  const std::string error = error_of(header + "\n" + good + "\n" + bad + "\n");
  EXPECT_NE(error.find("'c7'"), std::string::npos);
  EXPECT_NE(error.find("; and more in 12 further columns; correct"), std::string::npos) << error;
}

TEST(wrong_cells, in_columns_that_are_not_needed_are_no_error) {
  EXPECT_EQ(error_of("x,note\n1,1\n2,oops\n", {{}, {}, {"note"}}), "");
}

TEST(missing_marks, of_a_text_file) {
  Reading reading;
  reading.missing = {"-", "-999"};
  const Table t =
      parse_csv("x,c,d,w\n1,a,2020-01-01,1\n -999 ,-,-,2\n-,b,2020-01-02,3\n", ',', {"t.csv", reading});
  EXPECT_EQ(t.find("x")->kind, ColumnKind::numeric);
  EXPECT_TRUE(std::isnan(t.find("x")->values[1]) && std::isnan(t.find("x")->values[2]));
  EXPECT_EQ(t.find("c")->levels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(t.find("d")->kind, ColumnKind::datetime);
  reading.names = {"c"};
  reading.kept = {"x"};
  const Table kept = parse_csv("x,c\n1,-\n-999,a\n", ',', {"t.csv", reading});
  EXPECT_TRUE(std::isnan(kept.find("c")->values[0]));
  EXPECT_EQ(format_csv(kept, ','), "x,c\n1,\n-999,a\n");  // kept cells are written as they were
}

TEST(missing_marks, with_leading_zeros_are_texts) {
  Reading reading;
  reading.missing = {"00000"};
  const Table t = parse_csv("zip,x\n00000,0\n02139,1\n10115,0\n", ',', {"t.csv", reading});
  EXPECT_EQ(t.find("x")->values, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(t.find("zip")->levels, (std::vector<std::string>{"02139", "10115"}));
  EXPECT_FALSE(is_mark("0", reading.missing));
  EXPECT_EQ(without_marks({"x", ColumnKind::numeric, {0, 1}, {}}, reading.missing).values,
            (std::vector<double>{0, 1}));
}

TEST(missing_marks, of_float32_numbers_are_the_nearest_ones) {
  const std::vector<std::string> marks = {"-999.9"};
  const Column column = without_marks({"x", ColumnKind::numeric, {1, -999.9F, -999.9, -999.8}, {}}, marks);
  EXPECT_TRUE(std::isnan(column.values[1]) && std::isnan(column.values[2]));
  EXPECT_EQ(column.values[3], -999.8);
}

TEST(is_mark, is_a_text_or_a_number) {
  const std::vector<std::string> marks = {"-999", "-", "1"};
  for (const char* cell : {"-999", "-999.0", "-9.99e2", "-", "1.0"})
    EXPECT_TRUE(is_mark(cell, marks)) << cell;
  for (const char* cell : {"999", "--", "01", "", "one"}) EXPECT_FALSE(is_mark(cell, marks)) << cell;
}

TEST(without_marks, of_typed_columns) {
  const std::vector<std::string> marks = {"-999", "none given"};
  const Column numbers = without_marks({"x", ColumnKind::numeric, {1, -999, -999.5}, {}}, marks);
  EXPECT_TRUE(std::isnan(numbers.values[1]));
  EXPECT_EQ(numbers.values[2], -999.5);
  const Column names =
      without_marks({"c", ColumnKind::categorical, {0, 1, 2, kMissing}, {"a", "none given", "b"}}, marks);
  EXPECT_EQ(names.levels, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(std::isnan(names.values[1]));
  EXPECT_EQ(names.values[2], 1);
}

}  // namespace
}  // namespace slimbayes
