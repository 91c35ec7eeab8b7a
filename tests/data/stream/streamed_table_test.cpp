#include "slimbayes/data/stream/streamed_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "slimbayes/core/random.h"
#include "slimbayes/data/stream/streamed_rows.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/encoding/encoder.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 6000;

class StreamedTables : public testing::Test {
 protected:
  StreamedTables() {
    fs::create_directories(folder_);
    const Stream stream(5);
    const at::Tensor x = 1e6 + 1e-3 * stream.normal({kRows}), y = stream.split("y").normal({kRows});
    Table table{"", {}, kRows};
    Column a{"a", ColumnKind::numeric, {}, {}}, k{"k", ColumnKind::categorical, {}, {}},
        b{"b", ColumnKind::boolean, {}, {}}, target{"y", ColumnKind::numeric, {}, {}};
    for (int i = 0; i < 80; ++i) k.levels.push_back("level " + std::to_string(i));
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t twin = i % 3 == 0 && i > 0 ? i - 1 : i;  // a third of the inputs occurs twice
      a.values.push_back(twin % 11 == 0 ? kMissing : x[twin].item<double>());
      k.values.push_back(static_cast<double>(twin * twin % 80));
      b.values.push_back(static_cast<double>(twin % 5 == 0));
      target.values.push_back(i % 100 == 7 ? kMissing : 3 * y[i].item<double>());
    }
    table.columns = {a, k, b, target};
    for (int file = 0; file < 3; ++file) {
      std::vector<int64_t> rows;
      for (int64_t i = file * kRows / 3; i < (file + 1) * kRows / 3; ++i) rows.push_back(i);
      write_table(folder_ / (std::to_string(file) + (file == 1 ? ".csv" : ".parquet")),
                  take_rows(table, rows));
    }
  }
  ~StreamedTables() override { fs::remove_all(folder_); }

  TableStream stream() const { return {{folder_}, "the folder", {}, {}}; }

  /// All training rows, by a pass of their own.
  Table all_training_rows(const StreamParts& parts) const {
    TableStream again = stream();
    JoinedTable joined("training");
    while (auto piece = again.next()) joined.add(training_rows(std::move(*piece), parts, "y"));
    return std::move(joined).table();
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("streamed " + std::to_string(::getpid()));
  StreamOptions options_{
      .target = "y", .test = 0.2, .calibration = 0.1, .valid = 0.1, .kind = "grouped", .seed = 3};
};

std::vector<int64_t> every(int64_t n) {
  std::vector<int64_t> rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = i;
  return rows;
}

TEST_F(StreamedTables, HaveTheStatisticsOfAllTrainingRows) {
  for (const uint64_t bytes : {uint64_t{10000}, uint64_t{1} << 20}) {
    options_.most_bytes = bytes;  // the parts fit into memory, or become smaller
    TableStream first = stream();
    const StreamedTable streamed = streamed_table(first, options_);
    const Table all = all_training_rows(streamed.parts);
    EXPECT_EQ(streamed.split.streamed, all.rows);
    const int64_t held = std::ssize(streamed.split.test) + std::ssize(streamed.split.valid) +
                         std::ssize(streamed.split.calibration);
    EXPECT_EQ(held + all.rows, kRows - kRows / 100);
    for (const Column& column : all.columns) {
      const ColumnStatistics own = streamed.all.at(column.name),
                             exact = column_statistics(column, every(all.rows));
      EXPECT_EQ(own.rows, exact.rows);
      EXPECT_EQ(own.present, exact.present);
      EXPECT_NEAR(own.moments.mean, exact.moments.mean,
                  1e-12 * (std::abs(exact.moments.mean) + exact.moments.sd));
      EXPECT_NEAR(own.moments.sd, exact.moments.sd, 1e-9 * exact.moments.sd) << column.name;
      EXPECT_EQ(own.low, exact.low);
      EXPECT_EQ(own.high, exact.high);
      const std::vector<std::string>& levels = streamed.rows.find(column.name)->levels;
      std::map<std::string, int64_t> counts, expected;
      for (size_t i = 0; i < own.counts.size(); ++i)
        if (own.counts[i] > 0) counts[levels[i]] = own.counts[i];
      for (size_t i = 0; i < exact.counts.size(); ++i)
        if (exact.counts[i] > 0) expected[column.levels[i]] = exact.counts[i];
      EXPECT_EQ(counts, expected);
    }
    const Encoder encoder = Encoder::fit(streamed.rows, streamed.split.train, {.target = "y"}, &streamed.all),
                  exact = Encoder::fit(all, every(all.rows), {.target = "y"});
    EXPECT_EQ(encoder.schema().features, exact.schema().features);
    EXPECT_NEAR(encoder.schema().task.y_shift, exact.schema().task.y_shift, 1e-12);
    EXPECT_NEAR(encoder.schema().task.y_scale, exact.schema().task.y_scale, 1e-12);
    for (size_t c = 0; c < exact.columns().size(); ++c) {
      EXPECT_EQ(encoder.columns()[c].shift, exact.columns()[c].shift);
      EXPECT_EQ(encoder.columns()[c].scale, exact.columns()[c].scale);
      EXPECT_EQ(encoder.columns()[c].levels, exact.columns()[c].levels);
      EXPECT_EQ(encoder.columns()[c].indicator, exact.columns()[c].indicator);
    }
  }
}

TEST_F(StreamedTables, DealRowsByTheirInputs) {
  TableStream first = stream();
  const StreamedTable streamed = streamed_table(first, options_);
  const auto share = [](const auto& rows) { return static_cast<double>(rows.size()) / kRows; };
  EXPECT_NEAR(share(streamed.split.test), 0.2, 0.03);
  EXPECT_NEAR(share(streamed.split.calibration), 0.1, 0.03);
  EXPECT_NEAR(share(streamed.split.valid), 0.1, 0.03);
  EXPECT_EQ(streamed.split.streamed, std::ssize(streamed.split.train));  // all of them fit into memory
  // Equal inputs are in one part.
  std::map<std::vector<double>, std::set<StreamParts::Part>> parts;
  const std::vector<uint64_t> hashes = streamed.parts.hashes(streamed.rows);
  for (int64_t i = 0; i < streamed.rows.rows; ++i) {
    std::vector<double> inputs;
    for (size_t c = 0; c < 3; ++c) {
      const double x = streamed.rows.columns[c].values[static_cast<size_t>(i)];
      inputs.push_back(std::isnan(x) ? -1 : x);
    }
    parts[inputs].insert(streamed.parts.part_of(hashes[static_cast<size_t>(i)]));
  }
  EXPECT_LT(parts.size(), 4500u);
  for (const auto& [inputs, own] : parts) EXPECT_EQ(own.size(), 1u);
  for (const int64_t row : streamed.split.valid)
    EXPECT_EQ(streamed.parts.part_of(hashes[static_cast<size_t>(row)]), StreamParts::valid);
  // The same rows have the same hash; other rows, or another seed, differ.
  TableStream second = stream();
  EXPECT_EQ(streamed_table(second, options_).hash, streamed.hash);
  options_.seed = 4;
  TableStream third = stream();
  const StreamedTable other = streamed_table(third, options_);
  EXPECT_EQ(other.hash, streamed.hash);
  EXPECT_NE(other.split.valid.size(), streamed.split.valid.size());
}

TEST_F(StreamedTables, DealRowsOneByOne) {
  options_.kind = "random";
  TableStream first = stream();
  const StreamedTable streamed = streamed_table(first, options_);
  EXPECT_NEAR(static_cast<double>(streamed.split.test.size()) / kRows, 0.2, 0.03);
  EXPECT_EQ(all_training_rows(streamed.parts).rows, streamed.split.streamed);
}

TEST_F(StreamedTables, EncodeTheirTrainingRowsOnDisk) {
  options_.most_bytes = 10000;
  TableStream first = stream();
  StreamedTable table = streamed_table(first, options_);
  const StreamedRows rows(std::move(first), std::move(table), "y", {folder_, 5000});
  const InputEncoder encoder =
      Encoder::fit(rows.table().rows, rows.table().split.train, {.target = "y"}, &rows.table().all);
  double read = 0;
  const auto source =
      rows.encoded(encoder, /*whole=*/true, [&](double share) { read = share; })->source(rows.window());
  EXPECT_EQ(read, 1);
  const Batch expected = dataset_of(encoder, all_training_rows(rows.table().parts), true).all(),
              found = source->rows(at::arange(source->size()), {});
  EXPECT_TRUE(at::equal(found.inputs[0], expected.inputs[0]));
  EXPECT_TRUE(at::equal(found.target, expected.target));
}

// Three processes read a file each and join what they have kept: as if one had read all.
TEST_F(StreamedTables, OfSeveralReadersAreThatOfOne) {
  for (const std::string kind : {"grouped", "random"}) {
    options_.kind = kind;
    TableStream whole = stream();
    const StreamedTable one = streamed_table(whole, options_);
    std::vector<StreamPass> passes;
    int64_t rows = 0;
    for (int64_t reader = 0; reader < 3; ++reader) {
      TableStream share = stream();
      const std::optional<Table> first = share.next();
      passes.emplace_back("the folder", options_, *first);
      if (reader == 0) passes.push_back(passes[0]);
      ASSERT_TRUE(share.read_share(reader, 3));
      while (std::optional<Table> piece = share.next()) {
        rows += piece->rows;
        passes.back().add(std::move(*piece));
      }
    }
    EXPECT_EQ(rows, kRows);
    for (size_t i = 1; i < passes.size(); ++i) passes[0].join(passes[i].text());
    const StreamedTable joined = std::move(passes[0]).result();
    EXPECT_EQ(joined.hash, one.hash);
    EXPECT_EQ(joined.split.notes, one.split.notes);
    EXPECT_EQ(joined.split.train, one.split.train);
    EXPECT_EQ(joined.split.test, one.split.test);
    EXPECT_EQ(joined.rows.numbers, one.rows.numbers);
    for (const Column& column : one.rows.columns) {
      const Column& other = *joined.rows.find(column.name);
      EXPECT_EQ(other.levels, column.levels);
      for (size_t i = 0; i < column.values.size(); ++i)
        EXPECT_TRUE(other.values[i] == column.values[i] ||
                    (std::isnan(other.values[i]) && std::isnan(column.values[i])));
      const ColumnStatistics &own = joined.all.at(column.name), &expected = one.all.at(column.name);
      EXPECT_EQ(own.rows, expected.rows);
      EXPECT_EQ(own.present, expected.present);
      EXPECT_EQ(own.counts, expected.counts);
      EXPECT_EQ(own.numbers, expected.numbers);
      EXPECT_EQ(own.low, expected.low);
      EXPECT_EQ(own.high, expected.high);
      EXPECT_NEAR(own.moments.mean, expected.moments.mean, 1e-12 * std::abs(expected.moments.mean));
      EXPECT_NEAR(own.moments.sd, expected.moments.sd, 1e-9 * expected.moments.sd);
    }
  }
}

// The parts of some readers fit into memory, and those of all together do not.
TEST_F(StreamedTables, OfSeveralReadersKeepNoMoreThanOne) {
  options_.most_bytes = 8000;
  StreamPass all = [&] {
    TableStream first = stream();
    return StreamPass("the folder", options_, *first.next());
  }();
  for (int64_t reader = 0; reader < 3; ++reader) {
    TableStream share = stream();
    StreamPass own("the folder", options_, *share.next());
    share.read_share(reader, 3);
    while (std::optional<Table> piece = share.next()) own.add(std::move(*piece));
    all.join(own.text());
  }
  const StreamedTable joined = std::move(all).result();
  const auto held =
      std::ssize(joined.split.test) + std::ssize(joined.split.valid) + std::ssize(joined.split.calibration);
  EXPECT_EQ(held + joined.split.streamed, kRows - kRows / 100);
  EXPECT_EQ(joined.all.at("k").rows, joined.split.streamed);
  EXPECT_LT(std::ssize(joined.split.test), 8000 / 32 + 1);
  EXPECT_GT(std::ssize(joined.split.test), 50);
  EXPECT_LT(std::ssize(joined.split.train), 8000 / 32 + 1);
  const std::vector<uint64_t> hashes = joined.parts.hashes(joined.rows);
  for (const int64_t row : joined.split.test)
    EXPECT_EQ(joined.parts.part_of(hashes[static_cast<size_t>(row)]), StreamParts::test);
}

/// A table of 4,000 rows: an id that rises, a text that differs in every row, an input that repeats, a
/// target.
Table odd_table(const std::function<double(int64_t)>& target) {
  Table table{"", {}, 4000};
  Column id{"id", ColumnKind::numeric, {}, {}}, text{"text", ColumnKind::categorical, {}, {}},
      x{"x", ColumnKind::numeric, {}, {}}, y{"y", ColumnKind::numeric, {}, {}};
  for (int64_t i = 0; i < table.rows; ++i) {
    id.values.push_back(static_cast<double>(1000 + i));
    text.levels.push_back("note " + std::to_string(i));
    text.values.push_back(static_cast<double>(i));
    x.values.push_back(static_cast<double>(i * i % 701));
    y.values.push_back(target(i));
  }
  table.columns = {id, text, x, y};
  return table;
}

// What numbers the rows or differs in every row is no input, and does not tell equal inputs apart.
TEST_F(StreamedTables, KnowRowNumbersAndFreeText) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  write_table(folder_ / "1.csv", odd_table([](int64_t i) { return std::sin(static_cast<double>(i)); }));
  options_.most_bytes = 20000;
  TableStream first = stream();
  const StreamedTable streamed = streamed_table(first, options_);
  const Encoder encoder = Encoder::fit(streamed.rows, streamed.split.train, {.target = "y"}, &streamed.all);
  EXPECT_EQ(encoder.schema().features, (std::vector<std::string>{"x"}));
  EXPECT_LT(streamed.split.train.size(), 1000u);
  std::map<double, std::set<StreamParts::Part>> parts;
  TableStream again = stream();
  while (const auto piece = again.next()) {
    const std::vector<uint64_t> hashes = streamed.parts.hashes(*piece);
    for (size_t i = 0; i < hashes.size(); ++i)
      parts[piece->columns[2].values[i]].insert(streamed.parts.part_of(hashes[i]));
  }
  for (const auto& [x, own] : parts) EXPECT_EQ(own.size(), 1u) << x;
  options_.ignore = {"text", "no such column"};
  TableStream ignoring = stream();
  for (const auto& column : streamed_table(ignoring, options_).rows.columns)
    EXPECT_EQ(column.name == "text", column.kind == ColumnKind::categorical && column.levels.empty());
}

// A class of two rows among 4,000 is one, whether or not a row of it is in the sample.
TEST_F(StreamedTables, KnowTheClassesOfAllRows) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  options_ = {.target = "y", .most_bytes = 3000};
  const auto task_of = [&](const std::function<double(int64_t)>& target) {
    write_table(folder_ / "1.csv", odd_table(target));
    TableStream first = stream();
    const StreamedTable streamed = streamed_table(first, options_);
    EXPECT_LT(streamed.split.train.size(), 200u);
    return Encoder::fit(streamed.rows, streamed.split.train, {.target = "y"}, &streamed.all).schema().task;
  };
  const Task two = task_of([](int64_t i) { return i == 17 || i == 2900 ? 3.0 : 2.0; });
  EXPECT_EQ(two.levels, (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(task_of([](int64_t i) { return i == 17 ? 2.5 : static_cast<double>(i % 2); }).kind,
            TaskKind::regression);
}

TEST_F(StreamedTables, WithFewInputsHaveASampleOfThem) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  Table table = odd_table([](int64_t i) { return std::sin(static_cast<double>(i)); });
  for (double& x : table.columns[2].values) x = std::fmod(x, 2);
  table.columns.erase(table.columns.begin(), table.columns.begin() + 2);
  write_table(folder_ / "1.parquet", table);
  options_ = {.target = "y", .valid = 0.1, .kind = "grouped", .most_bytes = 3000};
  TableStream first = stream();
  const StreamedTable streamed = streamed_table(first, options_);
  EXPECT_EQ(streamed.split.streamed, 4000);  // both inputs are training rows
  EXPECT_GT(streamed.split.train.size(), 50u);
  options_.valid = 0.999;  // now one of them is held out, and does not fit into memory
  TableStream second = stream();
  EXPECT_THROW(streamed_table(second, options_), std::invalid_argument);
  options_.kind = "random";
  options_.valid = 0.1;
  TableStream third = stream();
  EXPECT_GT(streamed_table(third, options_).split.valid.size(), 50u);
}

// One input in nine rows of ten: a part would get all of them or none.
TEST_F(StreamedTables, WithAFrequentInputAreDealtOneByOne) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  Table table = odd_table([](int64_t i) { return std::sin(static_cast<double>(i)); });
  for (size_t i = 0; i < table.columns[2].values.size(); ++i)
    table.columns[2].values[i] = i % 10 > 0 ? 1 : static_cast<double>(i);
  write_table(folder_ / "1.parquet", table);
  options_ = {.target = "y", .test = 0.1, .valid = 0.1};
  for (options_.seed = 0; options_.seed < 5; ++options_.seed) {
    TableStream first = stream();
    const StreamedTable streamed = streamed_table(first, options_);
    EXPECT_FALSE(streamed.parts.by_inputs());
    EXPECT_NEAR(static_cast<double>(streamed.split.test.size()), 400, 80);
    EXPECT_NEAR(static_cast<double>(streamed.split.valid.size()), 400, 80);
  }
}

// Long names of categories count as memory, and go with their rows.
TEST_F(StreamedTables, OfManyCategoriesKeepASample) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  Table table = odd_table([](int64_t i) { return std::sin(static_cast<double>(i)); });
  Column& text = table.columns[1];
  for (size_t i = 0; i < text.values.size(); ++i) text.values[i] = static_cast<double>(i % 3000);
  for (int64_t file = 0; file < 8; ++file) {  // each piece brings levels of its own
    std::vector<int64_t> rows = every(500);
    for (int64_t& row : rows) row += 500 * file;
    write_table(folder_ / (std::to_string(file) + ".parquet"), take_rows(table, rows));
  }
  options_.most_bytes = 10000;
  TableStream first = stream();
  const StreamedTable streamed = streamed_table(first, options_);
  EXPECT_GT(streamed.split.train.size(), 20u);
  EXPECT_GT(streamed.split.valid.size(), 20u);
}

TEST_F(StreamedTables, RefuseAFolderWithoutRows) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  write_table(folder_ / "1.parquet", take_rows(odd_table([](int64_t) { return 0.0; }), {}));
  TableStream first = stream();
  EXPECT_THROW(streamed_table(first, options_), DataError);
}

TEST_F(StreamedTables, RefuseATableWithoutTargets) {
  options_.target = "k";
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  write_table(folder_ / "1.csv",
              {"",
               {{"x", ColumnKind::numeric, {1, 2}, {}}, {"k", ColumnKind::numeric, {kMissing, kMissing}, {}}},
               2});
  TableStream first = stream();
  EXPECT_THROW(streamed_table(first, options_), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
