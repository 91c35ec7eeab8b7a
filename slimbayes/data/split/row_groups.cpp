// Finds the groups of rows that a split keeps in one part.
//
// Tables contain repeated rows (a seventh of the rows in the red wine data). If a split dealt each row
// separately, a model would be validated on inputs that it was trained on, and its uncertainty would look
// better than it is. So rows with identical inputs form a group. They are found by a 128-bit hash of their
// cells. Identifiers and free text, which the encoder drops, are not compared, because they differ in every
// row.
//
// With the kind "auto", there are two exceptions. If every input occurs in many rows, each row is dealt
// separately, because holding out a group would remove all examples of its input from training. The rows of a
// group that is too large for a part (Allowance::most) are also dealt separately; with "grouped", they stay
// in training. O(n d).
#include "slimbayes/data/split/row_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

constexpr int64_t kManyAlike = 10;  // above so many rows per input, "auto" deals each row separately

struct SameHash {
  bool operator()(const XXH128_hash_t& a, const XXH128_hash_t& b) const { return XXH128_isEqual(a, b) != 0; }
};
struct LowBits {
  size_t operator()(const XXH128_hash_t& h) const { return static_cast<size_t>(h.low64); }
};

/// Returns x, with a single bit pattern for all NaNs and one for 0 and -0, so that equal cells have equal
/// hashes.
double canonical(double x) {
  if (std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  return x == 0 ? 0.0 : x;
}

/// Returns whether the encoder is expected to drop the column as row labels, an identifier or free text (but
/// not for its numbers: numbering_columns). This uses all rows of the table, because the training rows are
/// not known before the split.
bool encoder_drops(const Column& column, const std::vector<std::string>& declared) {
  if (is_row_label(column.name) && std::ranges::find(declared, column.name) == declared.end()) return true;
  if (column.kind != ColumnKind::categorical) return false;
  std::vector<bool> seen(column.levels.size());
  size_t cells = 0, different = 0;
  for (double value : column.values) {
    if (std::isnan(value)) continue;
    auto level = seen[static_cast<size_t>(value)];
    different += !level;
    level = true;
    ++cells;
  }
  return is_free_text(cells, different);
}

std::vector<const Column*> input_columns(const Table& table, const SplitOptions& options) {
  const std::vector<std::string>& not_inputs = options.not_inputs;
  for (const std::string& name : not_inputs) {
    if (!table.find(name))
      refuse("split_rows", "columns of the table that are no inputs", foreign_text(name),
             nearest_hint(name, table.names()));
  }
  std::vector<const Column*> inputs;
  for (const Column& column : table.columns) {
    bool left_out = std::find(not_inputs.begin(), not_inputs.end(), column.name) != not_inputs.end();
    if (!left_out) inputs.push_back(&column);
  }
  check(!inputs.empty(), "split_rows", "at least one input column", "none");
  const std::vector<std::string> numbering = numbering_columns(table, not_inputs);
  std::vector<const Column*> encoded;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(encoded), [&](const Column* column) {
    return std::ranges::find(numbering, column->name) == numbering.end() &&
           !encoder_drops(*column, options.declared);
  });
  return encoded.empty() ? inputs : encoded;
}

/// Returns the groups with some of them taken apart: if alone(g) is true for a group g, each of its rows
/// becomes its own group. Groups are renumbered by first appearance.
template <class Alone>
RowGroups parted(const RowGroups& groups, Alone alone) {
  RowGroups result;
  result.of.reserve(groups.of.size());
  std::vector<int64_t> number(static_cast<size_t>(groups.count), -1);
  for (int64_t g : groups.of) {
    int64_t& kept = number[static_cast<size_t>(g)];
    if (alone(g) || kept < 0) kept = result.count++;
    result.of.push_back(kept);
  }
  return result;
}

}  // namespace

std::vector<std::string> input_names(const Table& table, const SplitOptions& options) {
  std::vector<std::string> names;
  for (const Column* column : input_columns(table, options)) names.push_back(column->name);
  return names;
}

RowGroups alike_rows(const Table& table, const SplitOptions& options) {
  const std::vector<const Column*> inputs = input_columns(table, options);
  std::vector<double> cells;
  std::unordered_map<XXH128_hash_t, int64_t, LowBits, SameHash> index;
  index.reserve(static_cast<size_t>(table.rows));
  RowGroups groups{std::vector<int64_t>(static_cast<size_t>(table.rows))};
  for (size_t row = 0; row < groups.of.size(); ++row) {
    cells.clear();
    for (const Column* column : inputs) cells.push_back(canonical(column->values[row]));
    const bool lacks = std::ranges::any_of(cells, [](double cell) { return std::isnan(cell); });
    if (lacks && options.kind != "grouped")
      for (const Column& column : table.columns) cells.push_back(canonical(column.values[row]));
    XXH128_hash_t hash = XXH3_128bits(cells.data(), cells.size() * sizeof(double));
    groups.of[row] = index.try_emplace(hash, static_cast<int64_t>(index.size())).first->second;
  }
  groups.count = static_cast<int64_t>(index.size());
  return groups;
}

RowGroups groups_of(const std::vector<int64_t>& alike) {
  return {alike, alike.empty() ? 0 : 1 + *std::ranges::max_element(alike)};
}

std::vector<int64_t> sizes_of(const RowGroups& groups) {
  std::vector<int64_t> size(static_cast<size_t>(groups.count));
  for (int64_t g : groups.of) ++size[static_cast<size_t>(g)];
  return size;
}

RowGroups dealt_groups(const RowGroups& alike, const SplitOptions& options) {
  const auto n = static_cast<int64_t>(alike.of.size());
  if (options.kind == "random") return parted(alike, [](int64_t) { return true; });
  if (options.kind == "auto" && alike.count * kManyAlike < n) {
    RowGroups groups = parted(alike, [](int64_t) { return true; });
    groups.singly = true;
    return groups;
  }
  const int64_t most = allowance(options, n).most;
  const std::vector<int64_t> size = sizes_of(alike);
  const auto is_large = [&](int64_t g) { return size[static_cast<size_t>(g)] > most; };
  RowGroups groups = options.kind == "auto" ? parted(alike, is_large) : alike;
  for (int64_t g = 0; g < alike.count; ++g) {
    if (!is_large(g)) continue;
    ++groups.large;
    groups.large_rows += size[static_cast<size_t>(g)];
  }
  return groups;
}

RowGroups row_groups(const Table& table, const SplitOptions& options) {
  check_split(options, table.rows);
  return dealt_groups(alike_rows(table, options), options);
}

RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options) {
  check_split(options, std::ssize(alike));
  return dealt_groups(groups_of(alike), options);
}

std::vector<int64_t> groups_among(const RowGroups& groups, const std::vector<int64_t>& rows) {
  std::unordered_map<int64_t, int64_t> number;
  std::vector<int64_t> among;
  among.reserve(rows.size());
  for (int64_t row : rows) {
    const int64_t group = groups.of.at(static_cast<size_t>(row));
    among.push_back(number.try_emplace(group, static_cast<int64_t>(number.size())).first->second);
  }
  return among;
}

}  // namespace slimbayes
