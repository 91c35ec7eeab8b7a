#include <cmath>

#include "slimbayes/data/table/csv.h"
#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using kept = TableFiles;

const std::vector<std::string> kColumns = {"id",  "big",   "cents", "single", "yes",
                                           "day", "stamp", "local", "level",  "list"};

Reading keeping() {
  Reading reading;
  reading.kept = kColumns;
  reading.others_used = false;
  return reading;
}

Table columns(const Table& table, const std::vector<std::string>& names) {
  Table out{table.source, {}, table.rows};
  for (const std::string& name : names) out.columns.push_back(*table.find(name));
  return out;
}

TEST_F(kept, cells_are_written_as_the_file_has_them) {
  const std::string csv =
      "id,big,cents,single,yes,day,stamp,local,level,list\n"
      "9007199254740993,9223372036854775809,10000000000000000.01,0.1,true,1969-12-31,2020-01-01T12:30:15."
      "123456789,"
      "2020-01-01T11:30:15Z,b,\"[1, 2]\"\n"
      ",,,,,,,,,\n"
      "-9007199254740993,18446744073709551615,-0.50,inf,false,2020-02-29,1969-12-31T23:59:59.999999999,"
      "0001-01-01T00:00:00Z,\"\",[]\n";
  for (const char* name : {"kept.parquet", "kept.feather"}) {
    SCOPED_TRACE(name);
    const Table table = columns(read_table(golden(name), keeping()), kColumns);
    EXPECT_EQ(format_csv(table, ','), csv);
    for (const char* out : {"t.parquet", "t.feather"}) {
      write_table(folder / out, table);
      EXPECT_EQ(format_csv(read_table(folder / out, keeping()), ','), csv) << out;
    }
    const Table some = take_rows(table, {2, 0, 1});
    expect_has(format_csv(some, ','), "level,list\n-9007199254740993,");
  }
}

TEST_F(kept, rows_as_json_keep_every_digit) {
  Reading reading;
  reading.kept = {"b", "x", "n"};
  reading.kinds = {{"b", ColumnKind::boolean}, {"x", ColumnKind::numeric}};
  const std::string text = "b,x,n,y\nyes,9007199254740993,NA,0.1\nno,,007,\nYES,1.50,\"a \"\"b\"\"\",2\n";
  Table table = read_table(write("t.csv", text), reading);
  table.columns.push_back({"day \"one\"", ColumnKind::datetime, {0, kMissing, 86400}, {}});
  std::string rows;
  format_json_rows(table, [&](std::string_view piece) { rows += piece; });
  EXPECT_EQ(rows,
            R"({"b": true, "x": 9007199254740993, "n": null, "y": 0.1, "day \"one\"": "1970-01-01"},
{"b": false, "x": null, "n": "007", "y": null, "day \"one\"": null},
{"b": true, "x": 1.50, "n": "a \"b\"", "y": 2, "day \"one\"": "1970-01-02"}
)");
}

TEST_F(kept, text_is_kept_as_it_is_spelt) {
  Reading reading;
  reading.kept = {"b", "x", "n"};
  reading.kinds = {{"b", ColumnKind::boolean}, {"x", ColumnKind::numeric}};
  const std::string text = "b,x,n\nyes,1.50,NA\nno,,007\nYES,9007199254740993,\" two\"\n";
  Table table = read_table(write("t.csv", text), reading);
  EXPECT_EQ(format_csv(table, ','), text);
  EXPECT_EQ(table.find("b")->values[2], 1);
  write_table(folder / "t.parquet", table);
  const Table back = read_table(folder / "t.parquet");
  EXPECT_EQ(back.find("b")->levels, (std::vector<std::string>{"yes", "no", "YES"}));
  EXPECT_EQ(back.find("x")->levels, (std::vector<std::string>{"1.50", "9007199254740993"}));
  // A kept column of numbers is written as numbers if no number would be rounded.
  table = read_table(write("t.csv", "b,x,n\nyes,1.50,NA\nno,2,007\n"), reading);
  write_table(folder / "t.parquet", table);
  EXPECT_EQ(read_table(folder / "t.parquet").find("x")->values, (std::vector<double>{1.5, 2}));
}

TEST_F(kept, integers_beyond_2_53_are_noted_and_tell_names_apart) {
  const char* text = "x,y\n1,9007199254740992\n2,9007199254740993\n3,9007199254740994\n";
  const auto large = [](const Table& table) {
    const Column& column = *table.find("y");
    return column.large + " in " + std::to_string(column.large_row);
  };
  EXPECT_EQ(large(read(text)), "9007199254740993 in 1");
  EXPECT_EQ(large(read("y\n+00018446744073709551616\n")), "+00018446744073709551616 in 0");
  for (const char* none : {"y\n9007199254740992\n-9007199254740992\n", "y\n1e300\n0.5\n"})
    EXPECT_EQ(read(none).find("y")->large, "");
  Reading labels, known, names;
  labels.labels = {"y"};
  known.kinds = {{"y", ColumnKind::categorical}};
  names.names = {"y"};
  const std::vector<std::string> all = {"9007199254740992", "9007199254740993", "9007199254740994"};
  for (const Reading& reading : {labels, known, names})
    EXPECT_EQ(read_table(write("t.csv", text), reading).find("y")->levels, all);
  for (const char* name : {"kept.parquet", "kept.feather"}) {
    EXPECT_EQ(read_table(golden(name), {{}, {}, {"list", "single"}, true}).find("id")->large,
              "9007199254740993");
    for (const Reading& reading :
         {Reading{{}, {}, {"list", "single"}, true, {}, {"id"}},
          Reading{{{"id", ColumnKind::categorical}}, {}, {}, false}, Reading{{}, {"id"}, {}, false}}) {
      const Column column = *read_table(golden(name), reading).find("id");
      EXPECT_EQ(column.levels, (std::vector<std::string>{"9007199254740993", "-9007199254740993"}));
      EXPECT_TRUE(std::isnan(column.values[1]));
    }
  }
}

TEST_F(kept, decimals_are_numbers_and_unused_types_do_not_fail) {
  const Table table = read_table(golden("kept.parquet"), {{}, {}, {"list", "single"}, true});
  EXPECT_EQ(table.find("cents")->values[2], -0.5);
  EXPECT_EQ(table.find("cents")->large, "");
  EXPECT_TRUE(std::isnan(table.find("list")->values[0]));
  expect_has(message([&] {
               read_table(golden("kept.parquet"), {{}, {}, {"single"}, true});
             }),
             "fit: `.ignore`");
}

}  // namespace
}  // namespace slimbayes
