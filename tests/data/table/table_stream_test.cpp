// Tables that are read piece by piece (TableStream).
#include "slimbayes/data/table/table_stream.h"

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <parquet/arrow/writer.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/pieces.h"
#include "slimbayes/data/table/table_parts.h"
#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using TableStreams = TableFiles;

constexpr int64_t kRows = 3000;

Table mixed_table() {
  Table table{"", {}, kRows};
  Column x{"x", ColumnKind::numeric, {}, {}},
      k{"k", ColumnKind::categorical, {}, {"red", "blue", "a \"b\",\n c"}},
      b{"b", ColumnKind::boolean, {}, {}};
  for (int64_t i = 0; i < kRows; ++i) {
    x.values.push_back(i % 17 == 3 ? kMissing : std::sin(static_cast<double>(i)));
    k.values.push_back(i < 2000 ? static_cast<double>(i % 2) : 2);
    b.values.push_back(i < 50 ? kMissing : static_cast<double>(i % 3 == 0));
  }
  table.columns = {x, k, b};
  return table;
}

void write_in_row_groups(const std::filesystem::path& file, const Table& table, int64_t rows) {
  auto out = arrow::io::FileOutputStream::Open(file.string()).ValueOrDie();
  ASSERT_TRUE(
      parquet::arrow::WriteTable(*to_arrow(table, false), arrow::default_memory_pool(), out, rows).ok());
  ASSERT_TRUE(out->Close().ok());
}

/// The rows of all pieces of a file, and how many pieces there are.
std::pair<Table, int> joined_pieces(const std::filesystem::path& file, int64_t rows, int64_t text) {
  KnownColumns known({});
  JoinedTable joined(file.string());
  int pieces = 0;
  const auto open = open_pieces(file, {}, rows, text);
  while (auto piece = open->next(known.next())) {
    known.take(*piece);
    joined.add(std::move(*piece));
    ++pieces;
  }
  EXPECT_NEAR(open->share(), 1, 1e-9);
  return {std::move(joined).table(), pieces};
}

TEST_F(TableStreams, TheirPiecesAreTheWholeTable) {
  for (const char* name : {"t.csv", "t.tsv", "t.parquet", "t.feather"}) {
    write_table(folder / name, mixed_table());
    const auto [joined, pieces] = joined_pieces(folder / name, 400, 20000);
    EXPECT_GE(pieces, 3) << name;
    EXPECT_EQ(format_csv(joined, ','), format_csv(read_table(folder / name), ',')) << name;
  }
  for (const int64_t text : {1, 100, 1 << 20}) {  // blocks shorter than a record, and longer than the file
    const auto [joined, pieces] = joined_pieces(folder / "t.csv", 1, text);
    EXPECT_EQ(format_csv(joined, ','), format_csv(read_table(folder / "t.csv"), ',')) << text;
  }
}

TEST_F(TableStreams, TextWithoutALastLineEndAndWithEmptyLines) {
  const std::filesystem::path file = write("t.csv", "\xEF\xBB\xBFx,y\n1,2\n\n\n3,4\n\n5,6");
  for (const int64_t text : {1, 8, 100}) {
    const auto [joined, pieces] = joined_pieces(file, 1, text);
    EXPECT_EQ(joined.rows, 3);
    EXPECT_EQ(joined.columns[1].values, (std::vector<double>{2, 4, 6}));
  }
}

TEST_F(TableStreams, ColumnsOfAnotherSeparator) {
  Reading reading;
  for (const auto& [name, sign] : {std::pair{";", ";"}, {"|", "|"}, {"tab", "\t"}}) {
    reading.notation = {"", ",", "", name};
    const std::string text = "x" + std::string(sign) + "y\n1,5" + sign + "2\n3,5" + sign + "4\n";
    const Table whole = read_table(write("t.csv", text), reading);
    EXPECT_EQ(whole.columns.at(0).values, (std::vector<double>{1.5, 3.5}));
    const auto open = open_pieces(folder / "t.csv", {}, 1, 8);
    std::vector<double> y;
    while (const auto piece = open->next(reading))
      y.insert(y.end(), piece->columns.at(1).values.begin(), piece->columns.at(1).values.end());
    EXPECT_EQ(y, whole.columns.at(1).values);
  }
  const Table tabs = read_table(write("t.tsv", "x\ty\n1\t2\n"), reading);
  EXPECT_EQ(tabs.names(), (std::vector<std::string>{"x", "y"}));
}

TEST_F(TableStreams, NameTheLineOfAFault) {
  std::string text = "x,y\n";
  for (int i = 0; i < 500; ++i) text += "1,2\n";
  const std::filesystem::path ragged = write("ragged.csv", text + "1\n" + "1,2\n"),
                              word = write("word.csv", text + "\n1,a\n" + "1,2\n"),
                              open = write("open.csv", text + "1,\"2\n" + "1,2\n");
  for (const int64_t block : {1, 50, 700, 100000}) {
    expect_starts(message([&] { joined_pieces(ragged, 1, block); }), "ragged.csv:502: expected 2 cells");
    expect_starts(message([&] { joined_pieces(word, 1, block); }), "word.csv:503:2: expected");
    expect_starts(message([&] { joined_pieces(open, 1, block); }),
                  "open.csv:502:2: expected a closing quote");
  }
  write("empty.csv", "");
  write("header.csv", "x,y\n");
  expect_has(message([&] { joined_pieces(folder / "empty.csv", 1, 10); }), "received an empty file");
  expect_has(message([&] { joined_pieces(folder / "header.csv", 1, 10); }), "received the header alone");
}

TEST_F(TableStreams, CountTheRowsOfAFaultFromTheBeginningOfTheFile) {
  std::string text = "x,y\n";
  for (int i = 0; i < 500; ++i) text += "1,2\n";
  const std::filesystem::path word = write("word.csv", text + "\na,2\n1,2\na,2\n");
  for (const int64_t block : {50, 700, 100000}) {
    const std::string said = message([&] { joined_pieces(word, 1, block); });
    expect_starts(said, "word.csv:503:1: expected numbers in column 'x'");
    expect_has(said, "received 'a' (data row 501)");
  }
  Table table{"", {{"x", ColumnKind::numeric, std::vector<double>(1000, 1.5), {}}}, 1000};
  table.columns[0].values[700] = std::numeric_limits<double>::infinity();
  for (const char* name : {"t.parquet", "t.feather"}) {
    write_table(folder / name, table);
    expect_has(message([&] { joined_pieces(folder / name, 300, 1); }), "received inf in row 701");
  }
}

// Files of five row groups and of text: each row has one reader, and the number that one reader gives it.
TEST_F(TableStreams, AreReadInShares) {
  for (const char* name : {"a.parquet", "b.parquet"})
    write_in_row_groups(folder / name, mixed_table(), /*rows=*/600);
  write_table(folder / "c.csv", mixed_table());
  TableStream whole({folder}, "the folder", {}, {});
  const auto cells_of = [](TableStream& stream) {
    std::map<int64_t, std::string> rows;
    while (const auto piece = stream.next())
      for (int64_t i = 0; i < piece->rows; ++i)
        rows[piece->numbers[static_cast<size_t>(i)]] =
            row_place(*piece, i) + format_csv(take_rows(*piece, {i}), ',');
    return rows;
  };
  const auto all = cells_of(whole);
  EXPECT_EQ(std::ssize(all), 3 * kRows);
  for (const int64_t readers : {1, 2, 3}) {
    std::map<int64_t, std::string> joined;
    for (int64_t reader = 0; reader < readers; ++reader) {
      TableStream share({folder}, "the folder", {}, {});
      share.next();
      EXPECT_TRUE(share.read_share(reader, readers));
      for (int pass = 0; pass < 2; ++pass, share.rewind()) {
        const auto own = cells_of(share);
        EXPECT_LT(std::ssize(own), 1.5 * 3 * kRows / static_cast<double>(readers));
        for (const auto& [number, cells] : own) EXPECT_EQ(joined.emplace(number, cells).second, pass == 0);
        EXPECT_EQ(share.share(), 1);
      }
      share.read_all();
      EXPECT_EQ(cells_of(share), all);
    }
    EXPECT_EQ(joined, all);
  }
  for (int64_t reader = 0; reader < 2; ++reader) {  // a file that cannot be shared is read by all
    TableStream alone({folder / "c.csv"}, "c.csv", {}, {});
    EXPECT_FALSE(alone.read_share(reader, 2));
    EXPECT_EQ(std::ssize(cells_of(alone)), kRows);
  }
}

TEST_F(TableStreams, NumberTheRowsOfAllFiles) {
  write("a.csv", "x\n1\n2\n");
  write("b.csv", "x\n3\n");
  write("c.csv", "x\n4\n5\n");
  TableStream stream({folder}, "the folder", {}, {});
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::string> places;
    std::vector<double> values;
    while (const auto piece = stream.next())
      for (int64_t i = 0; i < piece->rows; ++i) {
        places.push_back(row_place(*piece, i));
        values.push_back(piece->columns[0].values[static_cast<size_t>(i)]);
      }
    EXPECT_EQ(values, (std::vector<double>{1, 2, 3, 4, 5}));
    EXPECT_EQ(places[2], "data row 1 of b.csv");
    EXPECT_EQ(places[4], "data row 2 of c.csv");
    EXPECT_EQ(stream.share(), 1);
    stream.rewind();
  }
}

TEST_F(TableStreams, ShortOfMemoryAreNotToldToReadPieceByPiece) {
  write_table(folder / "t.csv", mixed_table());
  write_table(folder / "t.parquet", mixed_table());
  for (const char* name : {"t.csv", "t.parquet"}) {
    TableStream stream({folder / name}, name, {}, {.memory = 2000});
    const std::string said = message([&] { stream.next(); });
    expect_starts(said, std::string(name) + ": expected a piece of a table that takes at most 2.0 KB");
    expect_has(said, "`.max_table_memory`");
    EXPECT_EQ(said.find("`.cache`"), std::string::npos) << said;
    expect_has(message([&] { read_table(folder / name, {}, {.memory = 2000}); }), "`.cache`");
  }
  const TableBound machine{1000, 1000, 10, 10, false, true};
  try {
    machine.check(1001, "t.csv");
    ADD_FAILURE();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(std::string(error.what()).find("`.cache`"), std::string::npos) << error.what();
  }
}

TEST_F(TableStreams, RefuseAFileWithoutRowsAsInMemory) {
  write("1.csv", "x\n1\n2\n");
  for (const char* name : {"2.parquet", "2.feather", "2.csv"}) {
    const std::filesystem::path empty = folder / name;
    write_table(empty, {"", {{"x", ColumnKind::numeric, {}, {}}}, 0});
    TableStream stream({folder}, "the folder", {}, {});
    const std::string streamed = message([&] {
      while (stream.next()) {
      }
    });
    expect_starts(streamed, std::string(name) + ": expected rows");
    EXPECT_EQ(streamed, message([&] { read_tables({folder}, "the folder"); }));
    std::filesystem::remove(empty);
  }
}

TEST_F(TableStreams, RefuseAFileThatChanges) {
  write("a.csv", "x\n1\n2\n");
  TableStream stream({folder}, "the folder", {}, {});
  while (stream.next()) {
  }
  stream.rewind();
  write("a.csv", "x\n1\n2\n3\n");
  expect_starts(message([&] { stream.next(); }),
                "a.csv: expected a file that does not change during the fit");
  std::filesystem::remove(folder / "a.csv");
  stream.rewind();
  expect_starts(message([&] { stream.next(); }), "a.csv: expected a file to read");
}

TEST_F(TableStreams, NameTheRowGroupThatIsDamaged) {
  Table table{"", {{"x", ColumnKind::numeric, {}, {}}}, 1 << 20};  // two row groups are written
  for (int64_t i = 0; i < table.rows; ++i)
    table.columns[0].values.push_back(std::sin(static_cast<double>(i)));
  write_table(folder / "t.parquet", table);
  std::fstream file(folder / "t.parquet", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<int64_t>(std::filesystem::file_size(folder / "t.parquet")) / 8);
  for (int i = 0; i < 4000; ++i) file.put('\x7f');
  file.close();
  const std::string said = message([&] { joined_pieces(folder / "t.parquet", 10000, 1); });
  if (said != "no error") {  // the bytes of a page's numbers may be any
    expect_starts(said, "t.parquet: expected row group 1 of the ");
  }
  std::filesystem::resize_file(folder / "t.parquet", 100000);
  expect_starts(message([&] { joined_pieces(folder / "t.parquet", 10000, 1); }),
                "t.parquet: expected a Parquet file");
}

}  // namespace
}  // namespace slimbayes
