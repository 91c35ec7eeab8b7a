// Texts that are longer than the pieces in which they are read.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/kept.h"
#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using csv = TableFiles;

TEST_F(csv, a_row_longer_than_a_block) {
  std::string word(3 << 20, 'a');
  Table t = read("x,y\n1," + word + "\n2,b\n");
  ASSERT_EQ(t.rows, 2);
  EXPECT_EQ(t.find("y")->levels[0].size(), word.size());
}

TEST_F(csv, a_bad_cell_deep_in_a_large_file) {
  std::string text = "x,y\n";
  for (int i = 0; i < 200000; ++i) text += i == 171717 ? "oops,1\n" : "0.123456,1\n";
  expect_starts(error_of(text), "t.csv:171719:1: ");
}

/// Some three megabytes, which are read in pieces: plain numbers, gaps, categories, text from the first row
/// on, codes and dates that only a late row shows, and line ends within quotes where `quoted`.
std::string long_text(int64_t rows, bool quoted, const std::string& line_end) {
  std::string text = "number,gaps,category,late,codes,quoted" + line_end;
  for (int64_t i = 0; i < rows; ++i) {
    text += fmt::format("{}.5,{},{},{},{}{},{}", i, i % 3 == 0 ? "NA" : std::to_string(i),
                        i % 2 ? "odd" : "even", 2 * i < rows ? "?" : "2020-01-02", i + 1 < rows ? "" : "0",
                        10000 + i % 7, quoted && i % 5 == 0 ? "\"a, \"\"b\"\"\nc\"" : "plain");
    text += line_end;
  }
  return text;
}

TEST_F(csv, a_text_of_many_pieces_is_read_as_one) {
  constexpr int64_t kRows = 70000;
  for (bool quoted : {false, true}) {
    for (const char* line_end : {"\n", "\r\n", "\r"}) {
      if (quoted && *line_end == '\r') continue;
      const std::string text = long_text(kRows, quoted, line_end);
      ASSERT_GT(text.size(), size_t{2} << 20);
      const Table t = read(text);
      ASSERT_EQ(t.rows, kRows);
      for (const Column& column : t.columns) ASSERT_EQ(std::ssize(column.values), kRows) << column.name;
      EXPECT_EQ(t.find("number")->kind, ColumnKind::numeric);
      EXPECT_EQ(t.find("gaps")->kind, ColumnKind::numeric);
      EXPECT_EQ(t.find("late")->kind, ColumnKind::datetime);
      ASSERT_EQ(t.find("category")->levels, (std::vector<std::string>{"even", "odd"}));
      EXPECT_EQ(t.find("codes")->kind, ColumnKind::numeric);  // one padded number among many was typed so
      EXPECT_EQ(t.find("codes")->words, (std::vector<std::string>{"010006"}));
      EXPECT_EQ(t.find("quoted")->levels[0], quoted ? "a, \"b\"\nc" : "plain");
      for (int64_t i = 0; i < kRows; ++i) {
        const auto at = static_cast<size_t>(i);
        ASSERT_EQ(t.columns[0].values[at], static_cast<double>(i) + 0.5) << i;
        ASSERT_EQ(std::isnan(t.columns[1].values[at]), i % 3 == 0) << i;
        ASSERT_EQ(t.columns[2].values[at], static_cast<double>(i % 2)) << i;
        ASSERT_EQ(std::isnan(t.columns[3].values[at]), 2 * i < kRows) << i;
        ASSERT_EQ(t.columns[4].values[at], static_cast<double>(10000 + i % 7)) << i;
      }
    }
  }
}

TEST_F(csv, faults_in_a_late_piece_have_their_line) {
  const std::string text = long_text(70000, false, "\n");
  const auto error = [&](const std::string& row) { return error_of(text + row + "\n"); };
  expect_starts(error("1,2,even"), "t.csv:70002: expected 6 cells as in the header; received 3");
  expect_starts(error("inf,2,even,?,1,plain"), "t.csv:70002:1: expected finite numbers in column 'number'");
  expect_starts(error("one,2,even,?,1,plain"),
                "t.csv:70002:1: expected numbers in column 'number', as in most");
  expect_has(error("1,2,even,?,1,\"open"), "expected a closing quote");
  expect_has(error_of("x,y\r1,\"open\r2,3\r4,5\r"), "t.csv:2:2: expected a closing quote");
  const Table kept = read_table(write("kept.csv", text), {.kept = {"number", "quoted"}});
  ASSERT_NE(kept.columns[0].kept, nullptr);
  CellTexts cells(kept.columns[0].kept);
  EXPECT_EQ(*cells.next(), "0.5");
}

}  // namespace
}  // namespace slimbayes
