#include <cmath>

#include "tests/data/table/files.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

using formats = TableFiles;

Table mixed() {
  double none = std::nan("");
  return {"",
          {{"x", ColumnKind::numeric, {0.1, none, 1e300}, {}},
           {"b", ColumnKind::boolean, {1, 0, none}, {}},
           {"c", ColumnKind::categorical, {1, none, 0}, {"12", "blue"}},
           {"d", ColumnKind::datetime, {0, 1577881815.25, none}, {}}},
          3};
}

TEST_F(formats, round_trip) {
  for (const char* name : {"t.parquet", "t.feather"}) {
    Table t = mixed();
    write_table(folder / name, t);
    Table back = read_table(folder / name);
    ASSERT_EQ(back.rows, 3);
    for (size_t c = 0; c < 4; ++c) {
      EXPECT_EQ(back.columns[c].name, t.columns[c].name);
      EXPECT_EQ(back.columns[c].kind, t.columns[c].kind) << name << " " << t.columns[c].name;
      for (size_t i = 0; i < 3 && c != 2; ++i) {
        double a = back.columns[c].values[i], b = t.columns[c].values[i];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
            << name << " " << t.columns[c].name << " " << a;
      }
    }
    // Text stays text even if it looks like a number. Levels come in order of appearance.
    EXPECT_EQ(back.find("c")->levels, (std::vector<std::string>{"blue", "12"}));
    EXPECT_TRUE(std::isnan(back.find("c")->values[1]));
  }
}

void expect_column(const Table& t, const char* name, ColumnKind kind, double first, double second) {
  const Column* column = t.find(name);
  ASSERT_TRUE(column) << name;
  EXPECT_EQ(column->kind, kind) << name;
  EXPECT_EQ(column->values[0], first) << name;
  EXPECT_TRUE(column->values[1] == second || (std::isnan(column->values[1]) && std::isnan(second))) << name;
  EXPECT_TRUE(std::isnan(column->values[2])) << name;
}

TEST_F(formats, every_type_of_another_writer) {
  double none = std::nan("");
  for (const char* name : {"types.parquet", "types.feather"}) {
    SCOPED_TRACE(name);
    Table t = read_table(golden(name));
    ASSERT_EQ(t.rows, 3);
    expect_column(t, "i8", ColumnKind::numeric, 1, -2);
    expect_column(t, "u64", ColumnKind::numeric, 1, 7);
    expect_column(t, "f32", ColumnKind::numeric, 0.5, 1.5);
    expect_column(t, "f64", ColumnKind::numeric, 0.1, none);
    expect_column(t, "flag", ColumnKind::boolean, 1, 0);
    for (const char* text : {"text", "large", "levels"}) {
      expect_column(t, text, ColumnKind::categorical, 0, 1);
      EXPECT_EQ(t.find(text)->levels, (std::vector<std::string>{"b", "a"}));
    }
    expect_column(t, "date32", ColumnKind::datetime, 172800, -86400);
    expect_column(t, "date64", ColumnKind::datetime, 172800, -86400);
    expect_column(t, "s", ColumnKind::datetime, 1577881815, none);
    expect_column(t, "ns", ColumnKind::datetime, 1577881815.25, none);
    EXPECT_TRUE(std::isnan(t.find("nothing")->values[0]));
  }
}

TEST_F(formats, errors_name_column_and_type) {
  auto error = [&](const char* name) { return message([&] { read_table(golden(name)); }); };
  expect_has(error("list.parquet"), "in column 'l'; received the type list<element: int64>; cast it");
  expect_has(error("infinite.parquet"), "column 'x'; received inf in row 2");
  expect_has(error("no_rows.parquet"), "expected rows; received none");
}

TEST_F(formats, damaged_files) {
  for (const char* name : {"t.parquet", "t.feather"}) {
    write_table(folder / name, mixed());
    std::ifstream in(folder / name, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    expect_starts(error_of(bytes.substr(0, bytes.size() / 2), name), std::string(name) + ": expected a ");
    expect_starts(error_of("", name), std::string(name) + ": expected a ");
    expect_starts(error_of("binary \x01\x02 garbage of some length", name),
                  std::string(name) + ": expected a ");
    // A file with a changed byte must give a table or a DataError.
    for (size_t i = 0; i < bytes.size(); i += 3) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ 0x55);
      std::string error = error_of(bad, name);
      EXPECT_TRUE(error == "no error" || error.starts_with(name)) << i << ": " << error;
    }
  }
}

TEST_F(formats, truncated_gzip) {
  expect_starts(error_of("", "t.csv.gz"), "t.csv.gz: expected a gzip file");
  expect_starts(error_of("x,y\n1,2\n", "t.csv.gz"), "t.csv.gz: expected a whole gzip file");
  auto path = real_data("yacht.csv.gz");
  if (!path) return;
  std::ifstream in(*path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(read(bytes, "t.csv.gz").rows, 308);
  EXPECT_EQ(read(bytes, "T.CSV.GZ").rows, 308);
  expect_starts(error_of(bytes.substr(0, bytes.size() - 400), "t.csv.gz"),
                "t.csv.gz: expected a whole gzip file");
  expect_starts(error_of(bytes.substr(0, bytes.size() - 4), "t.csv.gz"),
                "t.csv.gz: expected a whole gzip file");
}

TEST_F(formats, typed_columns_become_categories_on_demand) {
  Table t{"t", {{"year", ColumnKind::numeric, {2015, 2016, 2015}, {}}}, 3};
  write_table(folder / "t.parquet", t);
  EXPECT_EQ(read_table(folder / "t.parquet").columns[0].kind, ColumnKind::numeric);
  Table named = read_table(folder / "t.parquet", {{}, {"year"}, {}, true});
  EXPECT_EQ(named.columns[0].levels, (std::vector<std::string>{"2015", "2016"}));
  // If a model asks for categories, a typed column stays numeric: the model matches levels by value (1 is
  // 1.0).
  Table known = read_table(folder / "t.parquet", {{{"year", ColumnKind::categorical}}, {}, {}, true});
  EXPECT_EQ(known.columns[0].kind, ColumnKind::numeric);
}

}  // namespace
}  // namespace slimbayes
