// Several files as one table (read_tables).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

class TableParts : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  /// Returns the message of reading the folder.
  std::string refused(const TableLimits& limits = {}) const {
    try {
      read_table(folder_, {}, limits);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "table parts";
};

TEST_F(TableParts, AreTheTableOfAllRows) {
  const std::string header = "a,b,c,t,when\n";
  const std::vector<std::string> rows = {"1,red,yes,x,2020-01-01\n2,blue,,x,2020-01-02T00:00:00Z\n",
                                         "3,green,no,,2020-02-01\n,red,yes,y,\n",
                                         "5.5,blue,no,x,2020-03-01\n"};
  const fs::path whole = write("whole.csv", header + rows[0] + rows[1] + rows[2]);
  const Table expected = read_table(whole);
  fs::remove(whole);
  write("b/2.csv", header + rows[2]);
  write("a.csv", header + rows[0]);
  write("a2.csv", "b,a,when,c,t\ngreen,3,2020-02-01,no,\nred,,,yes,y\n");  // columns in another order
  write("_SUCCESS", "");
  write(".hidden.csv", "x\n1\n");
  write("_temporary/0.csv", "x\n1\n");
  write("notes.txt", "nothing");
  const Table joined = read_table(folder_);
  EXPECT_EQ(format_csv(joined, ','), format_csv(expected, ','));
  EXPECT_EQ(joined.rows, 5);
  EXPECT_EQ(joined.columns[1].levels, expected.columns[1].levels);
  EXPECT_EQ(joined.columns[2].words, expected.columns[2].words);
  EXPECT_EQ(joined.columns[4].without_offset, expected.columns[4].without_offset);
  EXPECT_EQ(joined.columns[4].with_offset, 1);
  EXPECT_EQ(joined.columns[4].first_without, expected.columns[4].first_without);
  const Table listed = read_tables({folder_ / "a.csv", folder_ / "a2.csv", folder_ / "b"}, "three");
  EXPECT_EQ(format_csv(listed, ','), format_csv(expected, ','));
  EXPECT_EQ(row_place(listed, 0), "data row 1 of a.csv");
  EXPECT_EQ(row_place(listed, 3), "data row 2 of a2.csv");
  EXPECT_EQ(row_place(take_rows(listed, {4, 2}), 0), "data row 1 of 2.csv");
  EXPECT_EQ(row_place(expected, 4), "data row 5");
}

TEST_F(TableParts, SayThatNamesOfFoldersAreNoColumn) {
  const std::string note = partition_note({{"data/a.csv"}, {"data/region=1/b.csv"}});
  EXPECT_TRUE(note.starts_with("the name of the folder 'region=1' is not read")) << note;
  EXPECT_EQ(partition_note({{"data/a.csv"}, {"=/b=1.csv"}}), "");
}

TEST_F(TableParts, OfAllFormatsAreOne) {
  Table table{
      "",
      {{"x", ColumnKind::numeric, {1, 2, 3}, {}}, {"k", ColumnKind::categorical, {0, 1, 0}, {"p", "q"}}},
      3};
  write_table(folder_ / "1.parquet", table);
  write_table(folder_ / "2.feather", table);
  write_table(folder_ / "3.csv", table);
  const Table joined = read_table(folder_);
  EXPECT_EQ(joined.rows, 9);
  EXPECT_EQ(joined.columns[1].levels, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(joined.columns[1].values, (std::vector<double>{0, 1, 0, 0, 1, 0, 0, 1, 0}));
}

TEST_F(TableParts, KeepTheKindOfTheFirstFileWithAValue) {
  write("1.csv", "a,code\n1,\n");
  write("2.csv", "a,code\n2,x7\n");
  write("3.csv", "a,code\n3,\n");
  write("4.csv", "a,code\n4,12\n");  // alone it would be a number
  const Table joined = read_table(folder_);
  EXPECT_EQ(joined.columns[1].kind, ColumnKind::categorical);
  EXPECT_EQ(joined.columns[1].levels, (std::vector<std::string>{"x7", "12"}));
  EXPECT_TRUE(std::isnan(joined.columns[1].values[0]) && std::isnan(joined.columns[1].values[2]));
}

TEST_F(TableParts, OfAnEmptyColumnKeepTheValuesOfTheOther) {
  for (const bool first : {false, true}) {
    write(first ? "1.csv" : "2.csv", "a,b\n1,\n");
    write(first ? "2.csv" : "1.csv", "a,b\n2,word\n");
    const Table joined = read_table(folder_);
    EXPECT_EQ(joined.columns[1].levels, (std::vector<std::string>{"word"}));
    EXPECT_EQ(std::isnan(joined.columns[1].values[0]), first);
  }
}

TEST_F(TableParts, WithAndWithoutAnIndexOfPandasAreOne) {
  const Column x{"x", ColumnKind::numeric, {1, 2}, {}},
      index{"__index_level_0__", ColumnKind::numeric, {5, 6}, {}};
  for (const bool first : {false, true}) {
    write_table(folder_ / (first ? "1.parquet" : "2.parquet"), {"", {x, index}, 2});
    write_table(folder_ / (first ? "2.parquet" : "1.parquet"), {"", {x}, 2});
    const Table joined = read_table(folder_);
    EXPECT_EQ(joined.rows, 4);
    EXPECT_EQ(joined.columns.size(), first ? 2u : 1u);
  }
}

TEST_F(TableParts, RefuseAFileThatStandsTwice) {
  write("1.csv", "a\n1\n");
  fs::create_symlink(folder_ / "1.csv", folder_ / "2.csv");
  EXPECT_NE(refused().find("2.csv: expected each file of a table once"), std::string::npos) << refused();
}

TEST_F(TableParts, AnIgnoredColumnMayHoldAnything) {
  write("1.csv", "a,b\n1,2\n");
  write("2.csv", "a,b\n1,word\n");
  EXPECT_EQ(read_table(folder_, {.unused = {"b"}}).rows, 2);
}

TEST_F(TableParts, RefuseOtherColumnsAndKindsByName) {
  write("1.csv", "a,b\n1,2\n");
  write("2.csv", "a\n1\n");
  EXPECT_NE(refused().find("2.csv: expected the columns of"), std::string::npos) << refused();
  EXPECT_NE(refused().find("none named 'b'"), std::string::npos) << refused();
  write("2.csv", "a,b,c\n1,2,3\n");
  EXPECT_NE(refused().find("'c' too"), std::string::npos) << refused();
  write("2.csv", "a,b\n1,word\n");
  EXPECT_NE(refused().find("2.csv:2:2: expected"), std::string::npos) << refused();
  fs::remove(folder_ / "2.csv");
  write_table(folder_ / "2.parquet",
              {"", {{"a", ColumnKind::numeric, {1}, {}}, {"b", ColumnKind::boolean, {1}, {}}}, 1});
  EXPECT_NE(refused().find("2.parquet: expected numeric cells in column 'b'"), std::string::npos)
      << refused();
}

TEST_F(TableParts, NameTheFileThatCannotBeRead) {
  EXPECT_NE(refused().find("expected tables in the folder"), std::string::npos) << refused();
  const Table table{"", {{"x", ColumnKind::numeric, std::vector<double>(5000, 1.5), {}}}, 5000};
  write_table(folder_ / "1.parquet", table);
  write_table(folder_ / "2.parquet", table);
  EXPECT_EQ(refused(), "");
  const auto size = fs::file_size(folder_ / "2.parquet");
  fs::resize_file(folder_ / "2.parquet", size / 2);
  EXPECT_NE(refused().find("2.parquet"), std::string::npos) << refused();
  fs::resize_file(folder_ / "2.parquet", 0);
  EXPECT_NE(refused().find("2.parquet"), std::string::npos) << refused();
  fs::remove(folder_ / "2.parquet");
  write("2.csv", "x\n");
  EXPECT_NE(refused().find("2.csv"), std::string::npos) << refused();
}

TEST_F(TableParts, ShareTheBoundOnMemory) {
  std::string text = "x\n";
  for (int i = 0; i < 20000; ++i) text += "1.25\n";
  for (int i = 0; i < 8; ++i) write(std::to_string(i) + ".csv", text);
  const TableLimits one{.memory = 600000}, all{.memory = 3000000};
  EXPECT_EQ(read_table(folder_ / "0.csv", {}, one).rows, 20000);
  EXPECT_NE(refused(one).find("`.max_table_memory`"), std::string::npos) << refused(one);
  EXPECT_EQ(read_table(folder_, {}, all).rows, 160000);
}

}  // namespace
}  // namespace slimbayes
