#include "slimbayes/data/stream/streamed_table.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/split/row_groups.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/table_parts.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

/// Returns the hash as a number from 0 to below 1.
double share_of(uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns a number for each cell of a column by which cells of different value differ, also between pieces:
/// of a category a hash of its text.
std::vector<uint64_t> cell_numbers(const Column& column) {
  std::vector<uint64_t> of_level;
  for (const std::string& level : column.levels) of_level.push_back(XXH3_64bits(level.data(), level.size()));
  std::vector<uint64_t> numbers(column.values.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double value = column.values[i];
    if (std::isnan(value)) {
      numbers[i] = UINT64_MAX;
    } else if (column.kind == ColumnKind::categorical) {
      numbers[i] = of_level[static_cast<size_t>(value)];
    } else {
      const double canonical = value + 0.0;  // -0 becomes 0
      std::memcpy(&numbers[i], &canonical, sizeof(double));
    }
  }
  return numbers;
}

/// Returns a hash of the cells of each row in these columns, in the order of their names.
std::vector<uint64_t> row_hashes(const Table& piece, const std::vector<std::string>& names, uint64_t seed) {
  std::map<std::string, std::vector<uint64_t>> columns;
  for (const Column& column : piece.columns)
    if (holds(names, column.name)) columns.emplace(column.name, cell_numbers(column));
  std::vector<uint64_t> hashes(static_cast<size_t>(piece.rows)), row(columns.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    size_t c = 0;
    for (const auto& [name, numbers] : columns) row[c++] = numbers[i];
    hashes[i] = XXH3_64bits_withSeed(row.data(), row.size() * sizeof(uint64_t), seed);
  }
  return hashes;
}

/// Returns the rows with a target.
std::vector<int64_t> labelled(const Table& piece, const std::string& target) {
  std::vector<int64_t> rows(static_cast<size_t>(piece.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const Column* column = target.empty() ? nullptr : piece.find(target);
  if (column != nullptr)
    std::erase_if(rows, [&](int64_t row) { return std::isnan(column->values[static_cast<size_t>(row)]); });
  return rows;
}

/// Returns the ignored columns and the target, as far as they are columns.
std::vector<std::string> known_not_inputs(const StreamOptions& options, const Table& first) {
  std::vector<std::string> names = options.ignore;
  names.push_back(options.target);
  std::erase_if(names, [&](const std::string& name) { return first.find(name) == nullptr; });
  return names;
}

/// Returns whether the cells of a column differ as those of an identifier or of free text.
bool holds_free_text(const Column& column) {
  if (column.kind != ColumnKind::categorical) return false;
  size_t present = 0;
  std::set<double> different;
  for (const double value : column.values) {
    if (std::isnan(value)) continue;
    ++present;
    different.insert(value);
  }
  return is_free_text(present, different.size());
}

/// Returns whether rows with these hashes of their inputs are to be dealt one by one: an input is frequent,
/// so that a part would get all of its rows or none, or an input has more than ten rows on average.
bool repeats_much(const std::vector<uint64_t>& hashes) {
  constexpr size_t kFewRows = 10, kMany = 10, kShare = 200;
  std::unordered_map<uint64_t, size_t> rows;
  size_t most = 0;
  for (const uint64_t hash : hashes) most = std::max(most, ++rows[hash]);
  return most > std::max(kFewRows, hashes.size() / kShare) || rows.size() * kMany < hashes.size();
}

/// A hash of bytes that come one after another.
class StreamHash {
 public:
  StreamHash() { XXH3_128bits_reset(state_.get()); }
  void add(const std::vector<uint64_t>& numbers) {
    XXH3_128bits_update(state_.get(), numbers.data(), numbers.size() * sizeof(uint64_t));
  }
  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{XXH3_createState(), XXH3_freeState};
};

/// A pass over the rows of a table.
class Pass {
 public:
  Pass(std::string source, const StreamOptions& options, const Table& first)
      : options_(options), parts_(options, first), source_(std::move(source)) {
    for (size_t part = 0; part < 4; ++part) kept_.emplace_back(source_);
    const std::vector<std::string> not_inputs = known_not_inputs(options, first);
    const std::vector<std::string> numbering = numbering_columns(first, not_inputs);
    for (const Column& column : first.columns) {
      using enum StatisticsOfParts::Kind;
      const bool text = !holds(not_inputs, column.name) && holds_free_text(column);
      statistics_.emplace(column.name, column.name == options.target ? target : text ? free_text : input);
      if (holds(numbering, column.name)) numbering_.push_back(column.name);
      if (!holds(options.ignore, column.name)) read_columns_.push_back(column.name);
    }
  }

  void add(Table piece) {
    parts_.blank(piece);
    read_ += piece.rows;
    files_ = piece.parts;
    hash_.add(row_hashes(piece, read_columns_, 0));
    const std::vector<uint64_t> hashes = parts_.hashes(piece);
    std::array<std::vector<int64_t>, 4> rows;
    for (const int64_t row : labelled(piece, options_.target))
      rows[parts_.part_of(hashes[static_cast<size_t>(row)])].push_back(row);
    for (size_t part = 0; part < 3; ++part)
      if (!rows[part].empty()) keep(static_cast<StreamParts::Part>(part), take_rows(piece, rows[part]));
    learn(piece, rows[StreamParts::train], hashes);
  }

  StreamedTable result() && {
    check(train_ > 0, "fit", "training rows with a target", "none", "check the files and the target");
    for (const StreamParts::Part part : {StreamParts::test, StreamParts::calibration, StreamParts::valid})
      check(halved_[part] == 0 || kept_[part].rows() > 0, "fit", "rows to hold out that fit into memory",
            "inputs each of which occurs too often", "`.split=random` deals the rows one by one");
    JoinedTable all(source_);
    SplitRows split;
    for (const auto& [part, rows] : {std::pair{StreamParts::train, &split.train},
                                     {StreamParts::valid, &split.valid},
                                     {StreamParts::calibration, &split.calibration},
                                     {StreamParts::test, &split.test}}) {
      rows->resize(static_cast<size_t>(kept_[part].rows()));
      std::iota(rows->begin(), rows->end(), all.rows());
      if (!rows->empty()) all.add(std::move(kept_[part]).table());
    }
    split.streamed = train_;
    split.notes = notes(split);
    Table table = std::move(all).table();
    table.parts = files_;
    TableStatistics statistics = of_levels_in(table);
    return {std::move(table), std::move(split), std::move(statistics), parts_, hash_.text()};
  }

 private:
  /// Returns the ignored columns and the target, as far as they are columns.

  /// Keeps rows of a part that is held out; what does not fit into memory becomes training rows.
  void keep(StreamParts::Part part, Table rows) {
    JoinedTable& kept = kept_[part];
    kept.add(std::move(rows));
    while (kept.bytes() > options_.most_bytes && kept.rows() > 2) {
      parts_.halve(part);
      ++halved_[part];
      const Table out = without_part(kept, part);
      std::vector<int64_t> every(static_cast<size_t>(out.rows));
      std::iota(every.begin(), every.end(), 0);
      learn(out, every, parts_.hashes(out));
    }
  }

  /// Takes the rows that no longer belong to the part out of it.
  Table without_part(JoinedTable& kept, StreamParts::Part part) const {
    const Table& now = kept.all();
    const std::vector<uint64_t> hashes = parts_.hashes(now);
    std::vector<int64_t> out;
    for (size_t i = 0; i < hashes.size(); ++i)
      if (parts_.part_of(hashes[i]) != part) out.push_back(static_cast<int64_t>(i));
    return kept.take(out);
  }

  /// Adds training rows to the statistics, and some of them to the sample.
  void learn(const Table& piece, const std::vector<int64_t>& rows, const std::vector<uint64_t>& hashes) {
    train_ += std::ssize(rows);
    for (const Column& column : piece.columns) statistics_.at(column.name).add(column, rows);
    std::vector<int64_t> some;
    for (const int64_t row : rows)
      if (is_sampled(hashes[static_cast<size_t>(row)], piece.numbers[static_cast<size_t>(row)]))
        some.push_back(row);
    if (some.empty()) return;
    JoinedTable& sample = kept_[StreamParts::train];
    sample.add(take_rows(piece, some));
    while (sample.bytes() > options_.most_bytes && sample.rows() > 2) {
      sampled_ /= 2;
      const std::vector<uint64_t> own = parts_.hashes(sample.all());
      std::vector<int64_t> out;
      for (size_t i = 0; i < own.size(); ++i)
        if (!is_sampled(own[i], sample.all().numbers[i])) out.push_back(static_cast<int64_t>(i));
      sample.take(out);
    }
  }

  /// The sample is drawn row by row, also among equal inputs.
  bool is_sampled(uint64_t hash, int64_t number) const {
    const std::array<uint64_t, 2> both = {hash, static_cast<uint64_t>(number)};
    return share_of(XXH3_64bits(both.data(), sizeof both)) < sampled_;
  }

  /// Returns the statistics of the columns, and gives their levels to the columns of the table.
  TableStatistics of_levels_in(Table& table) const {
    TableStatistics out;
    for (Column& column : table.columns) {
      const StatisticsOfParts& parts = statistics_.at(column.name);
      ColumnStatistics own = parts.statistics();
      if (column.kind == ColumnKind::categorical) {
        std::vector<std::string> levels = parts.levels();
        std::map<std::string, double> places;
        for (size_t i = 0; i < levels.size(); ++i) places.emplace(levels[i], static_cast<double>(i));
        std::vector<double> to;
        for (const std::string& level : column.levels) {
          const auto [found, fresh] = places.try_emplace(level, static_cast<double>(levels.size()));
          if (fresh) levels.push_back(level);
          to.push_back(found->second);
        }
        for (double& x : column.values)
          if (!std::isnan(x)) x = to[static_cast<size_t>(x)];
        column.levels = std::move(levels);
        own.counts.resize(column.levels.size());
      }
      own.numbering = holds(numbering_, column.name);
      out.emplace(column.name, std::move(own));
    }
    return out;
  }

  std::vector<std::string> notes(const SplitRows& split) const {
    std::vector<std::string> all = {
        fmt::format("{} rows, read piece by piece: the parts follow from a hash of the {} (`.split`), scales "
                    "and categories "
                    "from all {} training rows, the notes on columns from a sample of {}",
                    read_, parts_.by_inputs() ? "inputs" : "row's place", train_, split.train.size())};
    const int64_t unlabelled =
        read_ - train_ - std::ssize(split.valid) - std::ssize(split.calibration) - std::ssize(split.test);
    if (unlabelled > 0) all.push_back(fmt::format("{} rows without a target are left out", unlabelled));
    for (const auto& [part, name, rows] :
         {std::tuple{StreamParts::valid, "validation", split.valid.size()},
          {StreamParts::calibration, "calibration", split.calibration.size()},
          {StreamParts::test, "test", split.test.size()}})
      if (halved_[part] > 0)
        all.push_back(
            fmt::format("{} {} rows are kept, a smaller share than asked for: the held-out rows stay "
                        "in memory",
                        rows, name));
    return all;
  }

  const StreamOptions& options_;
  StreamParts parts_;
  std::string source_;
  std::vector<JoinedTable> kept_;  // by part; of the training part the sample
  std::array<int, 3> halved_ = {};
  double sampled_ = 1;  // share of the training rows in the sample
  std::map<std::string, StatisticsOfParts> statistics_;
  std::vector<std::string> numbering_, read_columns_;
  std::vector<TablePart> files_;
  StreamHash hash_;
  int64_t read_ = 0, train_ = 0;
};

}  // namespace

StreamParts::StreamParts(const StreamOptions& options, const Table& first)
    : begin_{0, options.test, options.test + options.calibration},
      width_{options.test, options.calibration, options.valid},
      ignore_(options.ignore),
      by_inputs_(options.kind != "random"),
      seed_(options.seed) {
  if (first.find(options.target) == nullptr)
    refuse("fit", "a target that is a column", in_quotes(options.target),
           nearest_hint(options.target, first.names()));
  inputs_ = input_names(first, {.valid_fraction = 0,
                                .test_fraction = 0,
                                .kind = "grouped",
                                .not_inputs = known_not_inputs(options, first),
                                .declared = options.declared});
  if (options.kind == "auto") by_inputs_ = !repeats_much(row_hashes(first, inputs_, seed_));
}

void StreamParts::blank(Table& piece) const {
  for (Column& column : piece.columns) {
    if (!holds(ignore_, column.name)) continue;
    std::ranges::fill(column.values, kMissing);
    column.levels = {};
  }
}

std::vector<uint64_t> StreamParts::hashes(const Table& piece) const {
  if (by_inputs_) return row_hashes(piece, inputs_, seed_);
  std::vector<uint64_t> hashes;
  for (const int64_t number : piece.numbers)
    hashes.push_back(XXH3_64bits_withSeed(&number, sizeof number, seed_));
  return hashes;
}

StreamParts::Part StreamParts::part_of(uint64_t hash) const {
  const double at = share_of(hash);
  for (const Part part : {test, calibration, valid})
    if (at >= begin_[part] && at < begin_[part] + width_[part]) return part;
  return train;
}

StreamedTable streamed_table(TableStream& stream, const StreamOptions& options,
                             const std::function<void(double)>& progress) {
  std::optional<Pass> pass;
  while (std::optional<Table> piece = stream.next()) {
    if (!pass) pass.emplace(stream.source(), options, *piece);
    pass->add(std::move(*piece));
    if (progress) progress(stream.share());
  }
  check(pass.has_value(), "fit", "rows in the files", "none", "check how the files were written");
  return std::move(*pass).result();
}

Table training_rows(Table piece, const StreamParts& parts, const std::string& target) {
  parts.blank(piece);
  const std::vector<uint64_t> hashes = parts.hashes(piece);
  std::vector<int64_t> rows;
  for (const int64_t row : labelled(piece, target))
    if (parts.part_of(hashes[static_cast<size_t>(row)]) == StreamParts::train) rows.push_back(row);
  return take_rows(piece, rows);
}

}  // namespace slimbayes
