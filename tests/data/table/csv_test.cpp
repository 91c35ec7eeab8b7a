#include "slimbayes/data/table/csv.h"

#include <cmath>

#include "tests/data/table/files.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

using csv = TableFiles;

TEST_F(csv, reads_every_kind_of_column) {
  Table t = read("n,b,c,d,m\n1,yes,red,2020-01-01,\n2.5,no,blue,2020-01-02T06:00,NA\n,,,,?\n");
  ASSERT_EQ(t.rows, 3);
  ASSERT_EQ(t.columns.size(), 5u);
  EXPECT_EQ(t.find("n")->kind, ColumnKind::numeric);
  EXPECT_EQ(t.find("b")->kind, ColumnKind::boolean);
  EXPECT_EQ(t.find("c")->kind, ColumnKind::categorical);
  EXPECT_EQ(t.find("d")->kind, ColumnKind::datetime);
  EXPECT_EQ(t.find("m")->kind, ColumnKind::numeric);
  EXPECT_EQ(t.find("n")->values[1], 2.5);
  EXPECT_EQ(t.find("b")->values[0], 1);
  EXPECT_EQ(t.find("b")->values[1], 0);
  EXPECT_EQ(t.find("c")->levels, (std::vector<std::string>{"red", "blue"}));
  EXPECT_EQ(t.find("c")->values[1], 1);
  EXPECT_EQ(t.find("d")->values[1] - t.find("d")->values[0], 86400 + 6 * 3600);
  for (const Column& column : t.columns) EXPECT_TRUE(std::isnan(column.values[2])) << column.name;
  EXPECT_EQ(t.find("absent"), nullptr);
  EXPECT_EQ(kind_name(ColumnKind::datetime), "datetime");
}

TEST_F(csv, missing_spellings_and_blanks_leave_a_column_numeric) {
  Table t = read("x,y\n 1 ,NA\n2, N/A\nNaN,nan\nnull,NULL\nNone,?\n\t5, \n");
  EXPECT_EQ(t.find("x")->kind, ColumnKind::numeric);
  EXPECT_EQ(t.find("x")->values[0], 1);
  EXPECT_EQ(t.find("x")->values[5], 5);
  EXPECT_TRUE(std::isnan(t.find("x")->values[4]));
  for (double value : t.find("y")->values) EXPECT_TRUE(std::isnan(value));
}

TEST_F(csv, byte_order_mark_crlf_old_mac_lines_and_no_last_line_end) {
  for (const char* text : {"\xEF\xBB\xBFx,y\r\n1,2\r\n3,4\r\n", "x,y\r1,2\r3,4", "x,y\n1,2\n\n3,4\n\n"}) {
    Table t = read(text);
    ASSERT_EQ(t.rows, 2) << text;
    EXPECT_EQ(t.columns[0].name, "x");
    EXPECT_EQ(t.find("y")->values[1], 4);
  }
}

TEST_F(csv, quoted_fields_hold_separators_quotes_and_line_ends) {
  Table t = read("\"a, b\",y\n\"one, \"\"two\"\"\nthree\",1\nx,2\n");
  ASSERT_EQ(t.rows, 2);
  EXPECT_EQ(t.columns[0].name, "a, b");
  EXPECT_EQ(t.columns[0].levels[0], "one, \"two\"\nthree");
}

TEST_F(csv, tabs) {
  Table t = read("x\tname\n1\ta,b\n", "t.tsv");
  EXPECT_EQ(t.find("name")->levels[0], "a,b");
}

TEST_F(csv, one_row_is_a_table) { EXPECT_EQ(read("x,y\n1,2").rows, 1); }

TEST_F(csv, text_among_numbers_names_the_cell) {
  std::string error = error_of("id,price\n1,10\n2,cheap\n3,12\n");
  expect_starts(error, "t.csv:3:2: ");
  expect_has(error, "'price'");
  expect_has(error, "'cheap'");
  expect_has(error, "; correct the cell");
  // Blank lines and line ends inside quotes count as lines.
  expect_starts(error_of("a,b\n\n\"x\ny\",1\nz,2\nw,oops\n"), "t.csv:6:2: ");
  // A column is numeric if at least half of its cells are numbers; with fewer it is categorical.
  expect_starts(error_of("a,b\n1,1\n2,x\n"), "t.csv:3:2: ");
  EXPECT_EQ(read("a,b\n1,1\n2,x\n3,y\n").find("b")->kind, ColumnKind::categorical);
}

TEST_F(csv, a_broken_date_names_the_cell) {
  expect_starts(error_of("d,y\n2020-01-01,1\n2020-02-30,2\n2020-03-01,3\n"), "t.csv:3:1: expected ISO dates");
}

TEST_F(csv, times_with_offsets_are_written_as_utc) {
  Table table = read("t,u\n2014-01-01T00:00:00+08:00,2014-01-01T00:00:00\n2014-01-01T08:00+08:00,\n");
  EXPECT_TRUE(table.columns[0].offsets);
  EXPECT_FALSE(table.columns[1].offsets);
  EXPECT_EQ(format_csv(table, ','), "t,u\n2013-12-31T16:00:00Z,2014-01-01\n2014-01-01T00:00:00Z,\n");
}

TEST_F(csv, an_offset_beyond_fourteen_hours_is_no_time) {
  expect_starts(error_of("t,y\n2020-01-01T00:00+01:00,1\n2020-01-01T00:00+25:00,2\n2020-01-02T00:00Z,3\n"),
                "t.csv:3:1: expected ISO dates");
  EXPECT_EQ(read("t\n2020-01-01T00:00+25:00\n").columns[0].kind, ColumnKind::categorical);
}

TEST_F(csv, times_without_an_offset_beside_others_with_one_are_counted) {
  const Column mixed =
      read("t\n2020-01-01T00:00Z\n\n2020-01-01\n2020-01-02T01:00\n2020-01-03T00:00+01:00\n").columns[0];
  EXPECT_TRUE(mixed.offsets);
  EXPECT_EQ(mixed.with_offset, 2);
  EXPECT_EQ(mixed.without_offset, 2);
  for (const char* alike : {"t\n2020-01-01\n2020-01-02\n", "t\n2020-01-01T00:00Z\n2020-01-02T00:00Z\n"})
    EXPECT_EQ(read(alike).columns[0].without_offset, 0);
}

TEST_F(csv, infinite_numbers_are_refused) {
  for (const char* cell : {"inf", "-inf", "Infinity", "1e999"}) {
    std::string error = error_of(std::string("x,y\n1,2\n3,") + cell + "\n");
    expect_starts(error, "t.csv:3:2: expected finite numbers in column 'y'");
    expect_has(error, cell);
  }
}

TEST_F(csv, ragged_rows) {
  std::string error = error_of("x,y\n1,2\n3\n5,6\n");
  expect_starts(error, "t.csv:3: expected 2 cells as in the header; received 1;");
  expect_starts(error_of("x,y\n1,2\n3,4\n5,6,7\n"),
                "t.csv:4: expected 2 cells as in the header; received 3;");
  std::string text = "x,y\n";
  for (int i = 0; i < 300000; ++i) text += i == 234567 ? "1\n" : "0.5,1\n";
  expect_starts(error_of(text), "t.csv:234569: ");
}

TEST_F(csv, labels_without_a_place_in_the_header) {
  expect_has(error_of("\"x\",\"y\"\n\"a\",1,2\n\"b\",3,4\n"), "begin the header with a separator");
  EXPECT_EQ(error_of("x,y\n1,2\na,3,4\n").find("begin the header"), std::string::npos);
}

TEST_F(csv, unclosed_quote) {
  expect_starts(error_of("x,y\n1,2\n\"3,4\n5,6\n"), "t.csv:3: expected a closing quote");
  expect_starts(error_of("\"x,y\n1,2\n"), "t.csv:1: expected a closing quote");
  // At the end of the file, where it takes no line with it: the file is cut off.
  expect_starts(error_of("x,y\n1,2\n3,\"4"), "t.csv:3:2: expected a closing quote");
  EXPECT_EQ(read("x,y\n1,2\n3,\"4\"").columns[1].values[1], 4);
  EXPECT_EQ(read("x,y\n1,a\n3,\"4\"\"\"").columns[1].levels[1], "4\"");
}

TEST_F(csv, a_line_is_counted_behind_empty_lines_and_line_ends_in_quotes) {
  for (const std::string& end : {std::string("\n"), std::string("\r\n")}) {
    const std::string text = end + "x,y" + end + end + "\"a" + end + "b\",1" + end + "c,2" + end + end;
    expect_starts(error_of(text + "1,2,3" + end), "t.csv:8: expected 2 cells as in the header; received 3");
    expect_starts(error_of(text + "d,inf"), "t.csv:8:2: expected finite numbers in column 'y'");
  }
  expect_starts(error_of("x,y\r\r1,2\r3\r"), "t.csv:4: expected 2 cells as in the header; received 1");
}

TEST_F(csv, names) {
  expect_starts(error_of("x,x\n1,2\n"), "t.csv:1:2: expected column names that differ; received 'x' twice");
  expect_starts(error_of("x, ,y\n1,2,3\n"), "t.csv:1:2: expected a name for every column");
  expect_starts(error_of("x;y\n1;2\n"), "t.csv:1: expected columns separated by ','; received ';'");
  expect_starts(error_of("x,y\n1,2\n", "t.tsv"),
                "t.tsv:1: expected columns separated by '\\t'; received ','");
}

TEST_F(csv, a_single_quoted_name_may_hold_a_separator) {
  for (const std::string name : {"a,b", "a;b", "a|b", "a\tb", ",", "a \"x\", b"}) {
    std::string quoted = name;
    for (size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2) quoted.insert(at, 1, '"');
    for (const char* file : {"t.csv", "t.tsv"}) {
      const Table table = read("\"" + quoted + "\"\n1\n2.5\n", file);
      EXPECT_EQ(table.names(), std::vector<std::string>{name}) << file;
      EXPECT_EQ(table.columns[0].values, (std::vector<double>{1, 2.5})) << file;
    }
  }
  // Another program's separator outside quotes is still named, and never the right one.
  expect_starts(error_of("\"x\";\"y\"\n1;2\n"), "t.csv:1: expected columns separated by ','; received ';'");
  expect_starts(error_of("\"x,1\"|\"y\"\n1|2\n"), "t.csv:1: expected columns separated by ','; received '|'");
  expect_starts(error_of("5\" tube;len\n1;2\n"), "t.csv:1: expected columns separated by ','; received ';'");
}

TEST_F(csv, a_first_column_without_a_name_holds_row_labels) {
  EXPECT_EQ(read(",x,y\n0,1,2\n").names(), (std::vector<std::string>{"Unnamed: 0", "x", "y"}));
  EXPECT_EQ(read("\"\",\"x\"\n\"a\",1\n").columns[0].levels, (std::vector<std::string>{"a"}));
  // A second to_csv of pandas adds one more index column.
  const Table twice = read(",Unnamed: 0,x\n0,0,1\n");
  EXPECT_EQ(twice.names(), (std::vector<std::string>{"Unnamed: 0.1", "Unnamed: 0", "x"}));
  for (const char* name : {"Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"})
    EXPECT_TRUE(is_row_label(name)) << name;
  for (const char* name : {"", "Unnamed: 1", "Unnamed", "index", "x"})
    EXPECT_FALSE(is_row_label(name)) << name;
  // Row labels are no input, so a text among numbers there is not an error.
  EXPECT_EQ(read(",x\n1,1\n2,2\ntotal,3\n").columns[0].kind, ColumnKind::categorical);
  expect_starts(error_of(",,x\n1,2,3\n"), "t.csv:1:2: expected a name for every column");
  expect_starts(error_of("x,y,\n1,2,\n"), "t.csv:1:3: expected a name for every column");
  expect_has(error_of("\"\"\n1\n"), "expected a name for every column");
}

TEST_F(csv, files_that_are_no_tables) {
  expect_has(error_of(""), "received an empty file");
  expect_has(error_of("\n\n"), "received an empty file");
  expect_has(error_of("x,y\n"), "received the header alone");
  expect_has(error_of("x,y"), "received the header alone");
  expect_has(error_of(std::string("x,y\n1,\0\n", 8)), "bytes of zero");
  expect_starts(error_of("x,y\na,1\ncaf\xE9,2\n"), "t.csv:3: expected text in UTF-8");
  expect_has(error_of("\x1f\x8b\x08"), "received a gzip file");
  expect_has(error_of("x,y\n1,2\n", "t.xlsx"), ".csv.gz");
  expect_has(error_of("x,y\n1,2\n", "table"), "ends in .csv");
  expect_has(message([&] { read_table(folder / "absent.csv"); }), "absent.csv");
  expect_has(message([&] { read_table(folder / "absent"); }), "absent");
  std::filesystem::create_directories(folder / "d.csv");
  expect_has(message([&] { read_table(folder / "d.csv"); }), "expected tables in the folder");
}

TEST_F(csv, every_double_survives_a_file) {
  Table t{
      "",
      {{"x", ColumnKind::numeric, {0.1, 1e300, -5e-324, 1.0 / 3, 123456789012345678.0, std::nan("")}, {}}},
      6};
  for (const char* name : {"t.csv", "t.tsv"}) {
    write_table(folder / name, t);
    Table back = read_table(folder / name);
    ASSERT_EQ(back.rows, 6);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(back.columns[0].values[i], t.columns[0].values[i]);
    EXPECT_TRUE(std::isnan(back.columns[0].values[5]));
  }
}

TEST_F(csv, write_quotes_what_needs_it) {
  Table t{"",
          {{"a,b", ColumnKind::categorical, {0, 1, 2}, {"x\"y", "line\nend", "plain"}},
           {"b", ColumnKind::boolean, {1, 0, std::nan("")}, {}},
           {"d", ColumnKind::datetime, {0, 3600.5, -86400}, {}},
           {"n", ColumnKind::numeric, {1, 2.5, std::nan("")}, {}}},
          3};
  EXPECT_EQ(
      format_csv(t, ','),
      "\"a,b\",b,d,n\n\"x\"\"y\",true,1970-01-01T00:00:00,1\n\"line\nend\",false,1970-01-01T01:00:00.5,2.5\n"
      "plain,,1969-12-31T00:00:00,\n");  // one format in a column of times
  write_table(folder / "t.csv", t);
  Table back = read_table(folder / "t.csv");
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(back.columns[c].kind, t.columns[c].kind);
    EXPECT_EQ(back.columns[c].levels, t.columns[c].levels);
  }
}

TEST_F(csv, write_errors) {
  Table t{"", {{"x", ColumnKind::numeric, {1}, {}}}, 1};
  expect_has(message([&] { write_table(folder / "t.xls", t); }), ".parquet");
  expect_has(message([&] { write_table("-", t); }), ".parquet");
  expect_has(message([&] { write_table(folder / "absent" / "t.csv", t); }), "absent");
}

TEST_F(csv, take_rows_in_order) {
  Table t = read("x,c\n1,a\n2,b\n3,a\n");
  Table taken = take_rows(t, {2, 0, 2});
  EXPECT_EQ(taken.rows, 3);
  EXPECT_EQ(taken.find("x")->values, (std::vector<double>{3, 1, 3}));
  EXPECT_EQ(taken.find("c")->levels.size(), 2u);
  EXPECT_THROW(take_rows(t, {3}), std::invalid_argument);
  EXPECT_THROW(take_rows(t, {-1}), std::invalid_argument);
}

TEST(csv_real, beijing_and_wine) {
  if (auto path = real_data("beijing_pm25.csv.gz")) {
    Table t = read_table(*path);
    EXPECT_EQ(t.rows, 43824);
    EXPECT_EQ(t.columns.size(), 13u);
    int64_t missing = 0;
    for (double value : t.find("pm2.5")->values) missing += std::isnan(value);
    EXPECT_EQ(missing, 2067);
    EXPECT_EQ(t.find("cbwd")->kind, ColumnKind::categorical);
    EXPECT_EQ(t.find("cbwd")->levels.size(), 4u);
  }
  if (auto path = real_data("wine_red.csv.gz")) {
    Table t = read_table(*path);
    EXPECT_EQ(t.rows, 1599);
    for (const Column& column : t.columns) EXPECT_EQ(column.kind, ColumnKind::numeric);
    EXPECT_EQ(t.find("fixed_acidity")->values[0], 7.4);
  }
}

TEST_F(csv, a_known_kind_needs_no_evidence) {
  const std::filesystem::path path = write("t.csv", "code,bit,x,notes\n100,1,1,3\n01,0,2,4\n");
  EXPECT_EQ(read_table(path).find("code")->kind, ColumnKind::numeric);
  Table t =
      read_table(path, {{{"code", ColumnKind::categorical}, {"bit", ColumnKind::boolean}}, {}, {}, true});
  EXPECT_EQ(t.find("code")->levels, (std::vector<std::string>{"100", "01"}));
  EXPECT_EQ(t.find("bit")->kind, ColumnKind::boolean);
  EXPECT_EQ(read_table(path, {{}, {"x"}, {}, true}).find("x")->levels, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(t.find("x")->kind, ColumnKind::numeric);
  expect_starts(message([&] {
                  read_table(write("u.csv", "x\n1\nA\nB\n"), {{{"x", ColumnKind::numeric}}, {}, {}, true});
                }),
                "u.csv:3:1: expected numbers in column 'x'; received 'A'");
}

TEST_F(csv, a_column_that_nobody_needs_cannot_fail) {
  const std::filesystem::path path = write("t.csv", "x,notes\n1,1\n2,2\n3,n/k\n");
  expect_starts(message([&] { read_table(path); }),
                "t.csv:4:2: expected numbers in column 'notes', as in most");
  EXPECT_EQ(read_table(path, {{}, {}, {"notes"}, true}).find("notes")->kind, ColumnKind::categorical);
  Table t = read_table(path, {{{"x", ColumnKind::numeric}}, {}, {}, false});
  EXPECT_EQ(t.find("notes")->levels.back(), "n/k");
}

}  // namespace
}  // namespace slimbayes
