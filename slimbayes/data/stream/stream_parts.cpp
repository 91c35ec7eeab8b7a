#include "slimbayes/data/stream/stream_parts.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <unordered_map>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/split/row_groups.h"
#include "slimbayes/data/split/split.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
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

/// Returns whether rows with these hashes of their inputs are to be dealt one by one: an input is frequent,
/// so that a part would get all of its rows or none, or an input has more than ten rows on average.
bool repeats_much(const std::vector<uint64_t>& hashes) {
  constexpr size_t kFewRows = 10, kMany = 10, kShare = 200;
  std::unordered_map<uint64_t, size_t> rows;
  size_t most = 0;
  for (const uint64_t hash : hashes) most = std::max(most, ++rows[hash]);
  return most > std::max(kFewRows, hashes.size() / kShare) || rows.size() * kMany < hashes.size();
}

}  // namespace

double share_of_hash(uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

std::vector<uint64_t> row_hashes(const Table& piece, const std::vector<std::string>& names, uint64_t seed) {
  std::map<std::string, std::vector<uint64_t>> columns;
  for (const Column& column : piece.columns)
    if (is_among(names, column.name)) columns.emplace(column.name, cell_numbers(column));
  std::vector<uint64_t> hashes(static_cast<size_t>(piece.rows)), row(columns.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    size_t c = 0;
    for (const auto& [name, numbers] : columns) row[c++] = numbers[i];
    hashes[i] = XXH3_64bits_withSeed(row.data(), row.size() * sizeof(uint64_t), seed);
  }
  return hashes;
}

std::vector<int64_t> labelled_rows_of(const Table& piece, const std::string& target) {
  std::vector<int64_t> rows(static_cast<size_t>(piece.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const Column* column = target.empty() ? nullptr : piece.find(target);
  if (column != nullptr)
    std::erase_if(rows, [&](int64_t row) { return std::isnan(column->values[static_cast<size_t>(row)]); });
  return rows;
}

std::vector<std::string> columns_without_inputs(const StreamOptions& options, const Table& first) {
  std::vector<std::string> names = options.ignore;
  names.push_back(options.target);
  std::erase_if(names, [&](const std::string& name) { return first.find(name) == nullptr; });
  return names;
}

StreamParts::StreamParts(const StreamOptions& options, const Table& first)
    : begin_{0, options.test, options.test + options.calibration},
      width_{options.test, options.calibration, options.valid},
      ignore_(options.ignore),
      by_inputs_(options.kind != "random"),
      seed_(options.seed) {
  if (first.find(options.target) == nullptr)
    refuse("fit", "a target that is a column", in_quotes(options.target),
           options.target.find(',') == std::string::npos
               ? nearest_hint(options.target, first.names())
               : "one alone: a fit of several targets keeps all rows in memory, without `.cache`");
  inputs_ = input_names(first, {.valid_fraction = 0,
                                .test_fraction = 0,
                                .kind = "grouped",
                                .not_inputs = columns_without_inputs(options, first),
                                .declared = options.declared});
  if (options.kind == "auto") by_inputs_ = !repeats_much(row_hashes(first, inputs_, seed_));
}

void StreamParts::blank(Table& piece) const {
  for (Column& column : piece.columns) {
    if (!is_among(ignore_, column.name)) continue;
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
  const double at = share_of_hash(hash);
  for (const Part part : {test, calibration, valid})
    if (at >= begin_[part] && at < begin_[part] + width_[part]) return part;
  return train;
}

Table training_rows(Table piece, const StreamParts& parts, const std::string& target) {
  parts.blank(piece);
  const std::vector<uint64_t> hashes = parts.hashes(piece);
  std::vector<int64_t> rows;
  for (const int64_t row : labelled_rows_of(piece, target))
    if (parts.part_of(hashes[static_cast<size_t>(row)]) == StreamParts::train) rows.push_back(row);
  return take_rows(piece, rows);
}

}  // namespace slimbayes
