#include "slimbayes/data/table/frame.h"

#include <arrow/c/abi.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/data/table/csv.h"
#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using frame = TableFiles;

/// A frame that holds the table as an Arrow stream.
Frame streamed(const Table& table) {
  Frame out{"the frame"};
  ArrowArrayStream stream{};
  write_stream(table, stream);
  add_stream(out, stream);
  return out;
}

TEST_F(frame, of_a_stream_is_the_table_that_was_streamed) {
  const Table table =
      read_table(write("t.csv", "x,day,c,b\n1.5,2020-01-02,u,yes\n,2021-03-04,,no\n-2,,v,yes\n"));
  const Table back = read_frame(streamed(table));
  ASSERT_EQ(back.names(), table.names());
  EXPECT_EQ(back.rows, 3);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    EXPECT_EQ(back.columns[i].kind, table.columns[i].kind) << table.columns[i].name;
    EXPECT_EQ(back.columns[i].levels, table.columns[i].levels);
  }
  EXPECT_EQ(format_csv(take_rows(back, {0, 2}), ','),
            format_csv(take_rows(read_frame(streamed(table)), {0, 2}), ','));
}

TEST_F(frame, columns_of_numbers_stand_beside_those_of_a_stream) {
  Frame given = streamed(read_table(write("t.csv", "c\nu\nv\n")));
  given.columns.push_back({"x", ColumnKind::numeric, {1, kMissing}, {}});
  given.columns.push_back({"code", ColumnKind::numeric, {7, 8}, {}});
  Reading reading;
  reading.names = {"code"};
  reading.missing = {"8"};
  const Table table = read_frame(std::move(given), reading);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"c", "x", "code"}));
  EXPECT_TRUE(std::isnan(table.find("x")->values[1]));
  EXPECT_EQ(table.find("code")->kind, ColumnKind::categorical);
  EXPECT_EQ(table.find("code")->levels, std::vector<std::string>{"7"});
  EXPECT_TRUE(std::isnan(table.find("code")->values[1]));
}

TEST_F(frame, that_cannot_be_read_is_refused) {
  const auto refused = [](Frame given, const Reading& reading = {}) {
    try {
      read_frame(std::move(given), reading);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Column x{"x", ColumnKind::numeric, {1, 2}, {}}, far{"far", ColumnKind::numeric, {1, INFINITY}, {}};
  expect_has(refused({"the frame"}), "received none");
  expect_has(refused({"the frame", {}, {x, x}}), "'x'");
  expect_has(refused({"the frame", {}, {far}}),
             "expected finite numbers in column 'far'; received inf in row 2");
  expect_has(refused({"the frame", {}, {x, {"y", ColumnKind::numeric, {1}, {}}}}),
             "expected 2 rows in every column");
  Reading unused;
  unused.unused = {"far"};
  EXPECT_TRUE(std::isnan(read_frame({"the frame", {}, {x, far}}, unused).find("far")->values[1]));
}

}  // namespace
}  // namespace slimbayes
