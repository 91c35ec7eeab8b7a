// Tests damaged CSV files, which a seeded mutator makes from a good one. Each must throw DataError or give a
// rectangular table with finite numbers and valid category codes, which survives writing and reading as CSV.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "slimbayes/data/table/csv.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

constexpr std::string_view kGood =
    "id,size,when,\"a, b\",on,note\n"
    "1,2.5,2020-01-31,red,true,\"two\nlines\"\n"
    "2,-1e-3,2021-02-28 12:30:00,blue,false,\"a \"\"quote\"\"\"\n"
    "3,NA,,red,true,caf\u00e9\r\n"
    "4,1e300,1999-12-31T23:59:59Z,\"\",yes,x\n"
    "5,0.1,2000-02-29,green,no,?\n";

size_t below(std::mt19937_64& random, size_t bound) { return bound == 0 ? 0 : random() % bound; }

void mutate(std::string& text, std::mt19937_64& random) {
  static const std::vector<std::string> pieces{
      ",",    "\"",   "\n",    "\r\n",       "\r",
      "\"\"", ",,,",  "\t",    ";",          "NA",
      "nan",  "inf",  "-",     "1e999",      "1e-999",
      "0x10", "true", "maybe", "2020-02-30", "9999-12-31T23:59:60+99:99",
      "\xff", "\xc3", "?",     " ",          "null",
      "+",    ".",    "1.",    "1_000",      "99999999999999999999999",
      "id"};
  const size_t at = below(random, text.size());
  const size_t length = 1 + below(random, 12);
  switch (below(random, 6)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 1:
      text.resize(at);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(below(random, text.size() + 1), text.substr(at, 4 * length));
      break;
    case 4:
      text.replace(at, below(random, 4), pieces[below(random, pieces.size())]);
      break;
    default:
      text.insert(at, pieces[below(random, pieces.size())]);
  }
}

void expect_sound(const Table& table) {
  ASSERT_GT(table.rows, 0);
  for (const Column& column : table.columns) {
    ASSERT_EQ(static_cast<int64_t>(column.values.size()), table.rows);
    ASSERT_FALSE(column.name.empty());
    for (const double value : column.values) {
      ASSERT_FALSE(std::isinf(value));
      if (column.kind != ColumnKind::categorical || std::isnan(value)) continue;
      ASSERT_TRUE(value >= 0 && value < static_cast<double>(column.levels.size()));
    }
  }
}

// Checks names and numeric columns bit for bit. Other columns are not compared: a category may be read as
// another kind if it looks like one.
void expect_same(const Table& a, const Table& b) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (size_t c = 0; c < a.columns.size(); ++c) {
    const Column &x = a.columns[c], &y = b.columns[c];
    ASSERT_EQ(x.name, y.name);
    if (x.kind != ColumnKind::numeric) continue;
    for (size_t i = 0; i < x.values.size(); ++i) {
      ASSERT_TRUE(x.values[i] == y.values[i] || (std::isnan(x.values[i]) && std::isnan(y.values[i])));
    }
  }
}

TEST(ParseCsv, MutantsAreTablesOrDataErrors) {
  std::mt19937_64 random(20240503);
  int tables = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text(kGood);
    for (size_t i = 0, n = 1 + below(random, 4); i < n; ++i) mutate(text, random);
    SCOPED_TRACE(::testing::Message() << "round " << round << "\n" << text);
    try {
      const Table table = parse_csv(text, ',', {"mutant.csv"});
      expect_sound(table);
      expect_same(table, parse_csv(format_csv(table, ','), ',', {"again.csv"}));
      ++tables;
    } catch (const DataError& error) {
      const std::string message = error.what();
      ASSERT_TRUE(message.starts_with("mutant.csv")) << message;
      ASSERT_EQ(message.find('\n'), message.npos) << message;
    }
    if (HasFatalFailure()) return;
  }
  // Enough mutants must give a table; otherwise only the first checks were exercised.
  EXPECT_GT(tables, 1000);
  RecordProperty("tables", tables);
}

}  // namespace
}  // namespace slimbayes
