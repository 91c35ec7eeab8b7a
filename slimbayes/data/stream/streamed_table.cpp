#include "slimbayes/data/stream/streamed_table.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "slimbayes/data/stream/table_text.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
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

std::vector<int64_t> every_row(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Returns the rows in the order of their numbers, which does not depend on who has read which of them.
Table in_order(const Table& table) {
  std::vector<int64_t> rows = every_row(table);
  std::ranges::sort(rows, {}, [&](int64_t row) { return table.numbers[static_cast<size_t>(row)]; });
  return take_rows(table, rows);
}

}  // namespace

StreamPass::StreamPass(std::string source, StreamOptions options, const Table& first)
    : options_(std::move(options)), parts_(options_, first), source_(std::move(source)), files_(first.parts) {
  for (size_t part = 0; part < 4; ++part) kept_.emplace_back(source_);
  const std::vector<std::string> not_inputs = columns_without_inputs(options_, first);
  const std::vector<std::string> numbering = numbering_columns(first, not_inputs);
  for (const Column& column : first.columns) {
    using enum StatisticsOfParts::Kind;
    const bool text = !holds(not_inputs, column.name) && holds_free_text(column);
    statistics_.emplace(column.name, column.name == options_.target ? target : text ? free_text : input);
    if (holds(numbering, column.name)) numbering_.push_back(column.name);
    if (!holds(options_.ignore, column.name)) read_columns_.push_back(column.name);
  }
}

void StreamPass::add(Table piece) {
  parts_.blank(piece);
  read_ += piece.rows;
  const std::vector<uint64_t> cells = row_hashes(piece, read_columns_, 0);
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::array<uint64_t, 2> both = {cells[i], static_cast<uint64_t>(piece.numbers[i])};
    const XXH128_hash_t hash = XXH3_128bits(both.data(), sizeof both);
    hash_[0] += hash.high64;
    hash_[1] += hash.low64;
  }
  const std::vector<uint64_t> hashes = parts_.hashes(piece);
  std::array<std::vector<int64_t>, 4> rows;
  for (const int64_t row : labelled_rows_of(piece, options_.target))
    rows[parts_.part_of(hashes[static_cast<size_t>(row)])].push_back(row);
  for (size_t part = 0; part < 3; ++part)
    if (!rows[part].empty()) keep(static_cast<StreamParts::Part>(part), take_rows(piece, rows[part]));
  learn(piece, rows[StreamParts::train], hashes);
}

std::string StreamPass::text() const {
  using Json = nlohmann::json;
  Json all = {{"read", read_}, {"train", train_}, {"sampled", sampled_}, {"hash", hash_}};
  for (const JoinedTable& rows : kept_) all["kept"].push_back(as_json(rows.all()));
  for (size_t part = 0; part < 3; ++part)
    all["halved"].push_back(parts_.halved(static_cast<StreamParts::Part>(part)));
  for (const auto& [name, column] : statistics_) all["statistics"][name] = column.as_json();
  std::string text;
  Json::to_cbor(all, text);
  return text;
}

void StreamPass::join(std::string_view text) {
  const nlohmann::json other = nlohmann::json::from_cbor(text);
  read_ += other.at("read").get<int64_t>();
  train_ += other.at("train").get<int64_t>();
  const auto hash = other.at("hash").get<std::array<uint64_t, 2>>();
  for (size_t i = 0; i < 2; ++i) hash_[i] += hash[i];
  for (auto& [name, column] : statistics_)
    column.add(StatisticsOfParts::from_json(other.at("statistics").at(name)));
  while (sampled_ > other.at("sampled").get<double>()) sample_less();
  const Table some = table_of(other.at("kept").at(StreamParts::train), source_);
  if (some.rows > 0) sample(some, every_row(some), parts_.hashes(some));
  for (const StreamParts::Part part : {StreamParts::test, StreamParts::calibration, StreamParts::valid}) {
    while (parts_.halved(part) < other.at("halved").at(part).get<int>()) halve(part);
    const Table rows = table_of(other.at("kept").at(part), source_);
    const std::vector<uint64_t> hashes = parts_.hashes(rows);
    std::vector<int64_t> own, rest;
    for (const int64_t row : every_row(rows))
      (parts_.part_of(hashes[static_cast<size_t>(row)]) == part ? own : rest).push_back(row);
    if (!own.empty()) keep(part, take_rows(rows, own));
    learn(rows, rest, hashes);
  }
}

StreamedTable StreamPass::result() && {
  check(train_ > 0, "fit", "training rows with a target", "none", "check the files and the target");
  for (const StreamParts::Part part : {StreamParts::test, StreamParts::calibration, StreamParts::valid})
    check(parts_.halved(part) == 0 || kept_[part].rows() > 0, "fit", "rows to hold out that fit into memory",
          "inputs each of which occurs too often", "`.split=random` deals the rows one by one");
  JoinedTable all(source_);
  SplitRows split;
  for (const auto& [part, rows] : {std::pair{StreamParts::train, &split.train},
                                   {StreamParts::valid, &split.valid},
                                   {StreamParts::calibration, &split.calibration},
                                   {StreamParts::test, &split.test}}) {
    rows->resize(static_cast<size_t>(kept_[part].rows()));
    std::iota(rows->begin(), rows->end(), all.rows());
    if (!rows->empty()) all.add(in_order(std::move(kept_[part]).table()));
  }
  split.streamed = train_;
  split.notes = notes(split);
  Table table = std::move(all).table();
  table.parts = files_;
  TableStatistics statistics = of_levels_in(table);
  return {std::move(table), std::move(split), std::move(statistics), parts_,
          fmt::format("{:016x}{:016x}", hash_[0], hash_[1])};
}

/// Keeps rows of a part that is held out; what does not fit into memory becomes training rows.
void StreamPass::keep(StreamParts::Part part, Table rows) {
  JoinedTable& kept = kept_[part];
  kept.add(std::move(rows));
  while (kept.bytes() > options_.most_bytes && kept.rows() > 2) halve(part);
}

/// Halves a part. The rows that no longer belong to it become training rows.
void StreamPass::halve(StreamParts::Part part) {
  parts_.halve(part);
  const Table& now = kept_[part].all();
  if (now.rows == 0) return;
  const std::vector<uint64_t> hashes = parts_.hashes(now);
  std::vector<int64_t> out;
  for (size_t i = 0; i < hashes.size(); ++i)
    if (parts_.part_of(hashes[i]) != part) out.push_back(static_cast<int64_t>(i));
  const Table taken = kept_[part].take(out);
  learn(taken, every_row(taken), parts_.hashes(taken));
}

/// Adds training rows to the statistics, and some of them to the sample.
void StreamPass::learn(const Table& piece, const std::vector<int64_t>& rows,
                       const std::vector<uint64_t>& hashes) {
  if (rows.empty()) return;
  train_ += std::ssize(rows);
  for (const Column& column : piece.columns) statistics_.at(column.name).add(column, rows);
  sample(piece, rows, hashes);
}

/// Adds those of these training rows to the sample that belong to it.
void StreamPass::sample(const Table& piece, const std::vector<int64_t>& rows,
                        const std::vector<uint64_t>& hashes) {
  std::vector<int64_t> some;
  for (const int64_t row : rows)
    if (is_sampled(hashes[static_cast<size_t>(row)], piece.numbers[static_cast<size_t>(row)]))
      some.push_back(row);
  if (some.empty()) return;
  JoinedTable& kept = kept_[StreamParts::train];
  kept.add(take_rows(piece, some));
  while (kept.bytes() > options_.most_bytes && kept.rows() > 2) sample_less();
}

/// Halves the share of the training rows in the sample.
void StreamPass::sample_less() {
  sampled_ /= 2;
  JoinedTable& kept = kept_[StreamParts::train];
  if (kept.rows() == 0) return;
  const std::vector<uint64_t> hashes = parts_.hashes(kept.all());
  std::vector<int64_t> out;
  for (size_t i = 0; i < hashes.size(); ++i)
    if (!is_sampled(hashes[i], kept.all().numbers[i])) out.push_back(static_cast<int64_t>(i));
  kept.take(out);
}

/// The sample is drawn row by row, also among equal inputs.
bool StreamPass::is_sampled(uint64_t hash, int64_t number) const {
  const std::array<uint64_t, 2> both = {hash, static_cast<uint64_t>(number)};
  return share_of_hash(XXH3_64bits(both.data(), sizeof both)) < sampled_;
}

/// Returns the statistics of the columns, and gives their levels to the columns of the table.
TableStatistics StreamPass::of_levels_in(Table& table) const {
  TableStatistics out;
  for (Column& column : table.columns) {
    const StatisticsOfParts& parts = statistics_.at(column.name);
    ColumnStatistics own = parts.statistics();
    if (column.kind == ColumnKind::categorical) {
      std::vector<std::string> levels = parts.levels();
      std::map<std::string, double> places;
      for (size_t i = 0; i < levels.size(); ++i) places.emplace(levels[i], static_cast<double>(i));
      for (const std::string& level : std::set(column.levels.begin(), column.levels.end()))
        if (places.try_emplace(level, static_cast<double>(levels.size())).second) levels.push_back(level);
      std::vector<double> to;
      for (const std::string& level : column.levels) to.push_back(places.at(level));
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

std::vector<std::string> StreamPass::notes(const SplitRows& split) const {
  std::vector<std::string> all = {
      fmt::format("{} rows, read piece by piece: the parts follow from a hash of the {} (`.split`), scales "
                  "and categories "
                  "from all {} training rows, the notes on columns from a sample of {}",
                  read_, parts_.by_inputs() ? "inputs" : "row's place", train_, split.train.size())};
  if (std::string note = partition_note(files_); !note.empty()) all.push_back(std::move(note));
  const int64_t unlabelled =
      read_ - train_ - std::ssize(split.valid) - std::ssize(split.calibration) - std::ssize(split.test);
  if (unlabelled > 0) all.push_back(fmt::format("{} rows without a target are left out", unlabelled));
  for (const auto& [part, name, rows] : {std::tuple{StreamParts::valid, "validation", split.valid.size()},
                                         {StreamParts::calibration, "calibration", split.calibration.size()},
                                         {StreamParts::test, "test", split.test.size()}})
    if (parts_.halved(part) > 0)
      all.push_back(
          fmt::format("{} {} rows are kept, a smaller share than asked for: the held-out rows stay "
                      "in memory",
                      rows, name));
  return all;
}

StreamedTable streamed_table(TableStream& stream, const StreamOptions& options,
                             const std::function<void(double)>& progress) {
  std::optional<StreamPass> pass;
  while (std::optional<Table> piece = stream.next()) {
    if (!pass) pass.emplace(stream.source(), options, *piece);
    pass->add(std::move(*piece));
    if (progress) progress(stream.share());
  }
  check(pass.has_value(), "fit", "rows in the files", "none", "check how the files were written");
  return std::move(*pass).result();
}

}  // namespace slimbayes
