#include <cmath>

#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using limits = TableFiles;

/// Returns a table with ten columns of numbers.
Table numbers(int64_t rows) {
  Table table{"", {}, rows};
  for (int c = 0; c < 10; ++c) {
    std::vector<double> values;
    for (int64_t i = 0; i < rows; ++i) values.push_back(std::sin(static_cast<double>(i * 10 + c)));
    table.columns.push_back({"c" + std::to_string(c), ColumnKind::numeric, values, {}});
  }
  return table;
}

TEST_F(limits, a_table_is_read_or_its_bound_is_said) {
  for (const char* name : {"t.csv", "t.parquet", "t.feather"}) {
    SCOPED_TRACE(name);
    write_table(folder / name, numbers(2000));
    int read = 0, refused = 0;
    for (uint64_t bytes = 1000; bytes < 8'000'000; bytes += bytes / 3) {
      const std::string error = message([&] { read_table(folder / name, {}, {bytes}); });
      if (error == "no error") {
        ++read;
        continue;
      }
      ++refused;
      EXPECT_EQ(read, 0) << "a larger bound allows what a smaller one does";
      expect_starts(error, std::string(name) + ": expected a table that takes at most ");
      expect_has(error, "`.max_table_memory`");
    }
    EXPECT_GT(read, 2);
    EXPECT_GT(refused, 10);
  }
}

TEST_F(limits, a_packed_file_unpacks_to_a_multiple_of_its_size) {
  const TableBound text = TableBound::of({}, 5'000'000, 100), small = TableBound::of({}, 100, 100);
  EXPECT_EQ(text.unpacked, 500'000'000u);
  EXPECT_EQ(small.unpacked, uint64_t{256} << 20);
  const TableBound plain = TableBound::of({}, 5'000'000);
  EXPECT_EQ(plain.unpacked, plain.memory);
  const TableBound asked = TableBound::of({1 << 20}, 100, 100);
  EXPECT_EQ(asked.unpacked, 1u << 20);
  EXPECT_EQ(asked.memory, 1u << 20);
  const TableBound bomb{uint64_t{1} << 40, 500'000'000, 1 << 20, 5'000'000, false};
  expect_has(
      message([&] { bomb.check_unpacked(600'000'000, (folder / "t.csv.gz").string()); }),
      "t.csv.gz: expected a file that unpacks to at most 477 MB, 100 times its size; received one of 4.8 MB");
  EXPECT_EQ(message([&] { bomb.check_unpacked(400'000'000, "t.csv.gz"); }), "no error");
  // If the limit is the machine's memory, the error is OutOfMemory, not a DataError of the file.
  EXPECT_THROW((TableBound{1000, 1000, 10, 10, false}.check(1001, "t.csv")), OutOfMemory);
}

TEST_F(limits, cells_are_bounded) {
  const std::string text = "x,t\n1,a\n2,\"" + std::string(3000, 'b') + "\"\n3,c\n";
  EXPECT_EQ(read(text).rows, 3);
  const auto within = [&](const std::string& content, uint64_t cell) {
    return message([&] { read_table(write("t.csv", content), {}, {0, cell}); });
  };
  EXPECT_EQ(within(text, 3000), "no error");
  expect_starts(within(text, 2999),
                "t.csv:3:2: expected cells of a table; received a cell longer than 2.9 KB");
  expect_has(within("x," + std::string(3000, 'y') + "\n1,2\n", 2999), "t.csv:1: expected names of columns");
  // A cell that is longer than one of Arrow's blocks.
  const std::string longer = "x,t\n1,a\n2,\"" + std::string(3 << 20, 'b') + "\"\n3,c\n";
  EXPECT_EQ(within(longer, 3 << 20), "no error");
  expect_starts(within(longer, 2 << 20), "t.csv:3:2: expected cells of a table");
  Table typed{"", {{"t", ColumnKind::categorical, {0}, {std::string(3000, 'b')}}}, 1};
  write_table(folder / "t.parquet", typed);
  expect_has(message([&] { read_table(folder / "t.parquet", {}, {0, 2999}); }), "in column 't'");
}

TEST_F(limits, a_quote_that_stays_open_takes_no_rows_with_it) {
  expect_starts(error_of("x,t\n1,a\n2,\"oops\n3,b\n4,c\n"), "t.csv:3:2: expected a closing quote");
  expect_starts(error_of("x,t\n1,5\" pipe\n2,\"oops\n3,b\n4,c\n"), "t.csv:3:2: expected a closing quote");
  EXPECT_EQ(read("x,t\n1,5\"\n2,b\n").rows, 2);
}

TEST_F(limits, paths_that_lead_nowhere) {
  std::filesystem::create_symlink("loop", folder / "loop");
  std::filesystem::create_symlink("loop.csv", folder / "loop.csv");
  for (const std::string& name :
       {std::string("loop"), std::string("loop.csv"), std::string(300, 'n'), std::string(300, 'n') + ".csv"})
    expect_starts(message([&] { read_table(folder / name); }), name + ": cannot open: ");
}

}  // namespace
}  // namespace slimbayes
