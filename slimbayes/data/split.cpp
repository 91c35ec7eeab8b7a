// Splits rows into training, validation, calibration and test parts.
//
// Tables hold repeated rows (a seventh of the red wines). Split row by row, a model would be validated on
// inputs that it was trained on, and its uncertainty would look better than it is. So rows with identical
// inputs form a group, found by a 128-bit hash of the cells. Groups are dealt whole, in a seeded order: first
// to the test part, then to validation, then to calibration; the rest is for training. Identifiers and free
// text, which the encoder drops, are not compared: they would make every row a group.
//
// With "auto", rows are dealt one by one if every input comes in many rows: holding out a group would remove
// the only examples of its input. The rows of a group that is too large for a part (allowance) are dealt one
// by one too; "grouped" keeps them in training. O(n d). Without repeated rows, a grouped split equals the
// random one of the same stream.
#include "slimbayes/data/split.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/encoder.h"

namespace slimbayes {
namespace {

constexpr int64_t kManyAlike = 10;  // average rows per input above which "auto" deals row by row

struct SameHash {
  bool operator()(const XXH128_hash_t& a, const XXH128_hash_t& b) const { return XXH128_isEqual(a, b) != 0; }
};
struct LowBits {
  size_t operator()(const XXH128_hash_t& h) const { return static_cast<size_t>(h.low64); }
};

/// Returns x with one bit pattern for NaN and one for zero, so that equal cells have equal bits.
double canonical(double x) {
  if (std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  return x == 0 ? 0.0 : x;
}

/// Returns whether the encoder will drop the column as row labels, identifier or free text. The decision uses
/// all rows, because the training rows are not known yet.
bool is_free_text(const Column& column) {
  if (is_row_label(column.name)) return true;
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
  return slimbayes::is_free_text(cells, different);
}

std::vector<const Column*> input_columns(const Table& table, const std::vector<std::string>& not_inputs) {
  for (const std::string& name : not_inputs) {
    check(table.find(name), "split_rows", "columns of the table that are no inputs", name,
          nearest_hint(name, table.names()));
  }
  std::vector<const Column*> inputs;
  for (const Column& column : table.columns) {
    bool left_out = std::find(not_inputs.begin(), not_inputs.end(), column.name) != not_inputs.end();
    if (!left_out) inputs.push_back(&column);
  }
  check(!inputs.empty(), "split_rows", "at least one input column", "none");
  std::vector<const Column*> encoded;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(encoded),
               [](const Column* column) { return !is_free_text(*column); });
  return encoded.empty() ? inputs : encoded;
}

/// Groups rows with identical inputs. A missing cell is not known to equal another: by default, rows that
/// lack an input are one group only if every cell of the table is equal, those that are no inputs too, as in
/// a row that was copied. Otherwise the rows that lack the one input that tells rows apart would be a few
/// large groups, and a part that got one would have far more missing cells than the others. The split
/// `grouped` groups them.
RowGroups alike_rows(const Table& table, const SplitOptions& options) {
  const std::vector<const Column*> inputs = input_columns(table, options.not_inputs);
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

/// Returns the groups that `alike` gives by their numbers: 0, 1, ... without a gap.
RowGroups groups_of(const std::vector<int64_t>& alike) {
  return {alike, alike.empty() ? 0 : 1 + *std::ranges::max_element(alike)};
}

/// Returns ceil(fraction * n), with a margin for rounding: 0.07 * 100 is a little above 7 in doubles, and
/// gives 7.
int64_t part_size(double fraction, int64_t n) {
  return static_cast<int64_t>(std::ceil(fraction * static_cast<double>(n) - 1e-9));
}

// The parts in the order in which they are dealt; the last one takes what is left.
constexpr std::vector<int64_t> SplitRows::*kLists[] = {&SplitRows::test, &SplitRows::valid,
                                                       &SplitRows::calibration, &SplitRows::train};
constexpr const char* kNames[] = {"test", "validation", "calibration"};
constexpr size_t kTrain = std::size(kNames);
using PartSizes = std::array<int64_t, kTrain>;

/// Returns how many of n rows go to the test, validation and calibration parts, in this order.
PartSizes part_sizes(const SplitOptions& options, int64_t n) {
  return {part_size(options.test_fraction, n), part_size(options.valid_fraction, n),
          part_size(options.calibration_fraction, n)};
}

/// Limits on how far groups of identical rows may change the sizes of the parts.
struct Allowance {
  int64_t excess;  // rows by which a part may exceed its size
  int64_t most;    // largest number of rows of one input that are dealt together
};

/// Returns the allowance: a part exceeds its size by at most twice the smallest part and at most a sixth of
/// the training rows' share. If test or validation rows are held out, calibration rows do not count, because
/// the other parts must be the same with and without them.
Allowance allowance(const SplitOptions& options, int64_t n) {
  const auto [test, valid, calibration] = part_sizes(options, n);
  int64_t smallest = test > 0 && valid > 0 ? std::min(test, valid) : std::max(test, valid);
  if (smallest == 0) smallest = calibration;
  if (smallest == 0) return {n, n};
  const int64_t train = std::max<int64_t>(1, n - test - valid);
  const int64_t excess = std::min(2 * smallest, (train + 5) / 6);
  return {excess, std::max(1 + excess, smallest + excess / 2)};
}

/// Returns the number of rows in each group.
std::vector<int64_t> sizes_of(const RowGroups& groups) {
  std::vector<int64_t> size(static_cast<size_t>(groups.count));
  for (int64_t g : groups.of) ++size[static_cast<size_t>(g)];
  return size;
}

/// Returns the groups after splitting those for which `alone` is true: each of their rows becomes its own
/// group.
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

/// Returns the groups that split_rows deals. `alike` groups the rows with identical inputs.
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

void check_options(int64_t n, const SplitOptions& options) {
  auto fraction = [](double value, std::string_view name) {
    check(value >= 0 && value < 1, "split_rows", fmt::format("{} from 0 to below 1", name),
          fmt::format("{}", value));
  };
  fraction(options.valid_fraction, "a validation fraction");
  fraction(options.test_fraction, "a test fraction");
  fraction(options.calibration_fraction, "a calibration fraction");
  check(
      options.valid_fraction + options.test_fraction + options.calibration_fraction < 1, "split_rows",
      "fractions that leave rows for training",
      fmt::format("{} + {}{}", options.valid_fraction, options.test_fraction,
                  options.calibration_fraction > 0 ? fmt::format(" + {}", options.calibration_fraction) : ""),
      "lower one of them");
  check(options.kind == "auto" || options.kind == "grouped" || options.kind == "random", "split_rows",
        "a split 'auto', 'grouped' or 'random'", options.kind);
  check(n > 0, "split_rows", "rows to split", "none");
}

/// Returns the part of each group (an index into kLists), given the groups' sizes. A group that would make a
/// part too large is left for the next part.
std::vector<size_t> dealt(const std::vector<int64_t>& size, PartSizes left, const Allowance& allowed,
                          const Stream& stream) {
  const at::Tensor order = stream.permutation(static_cast<int64_t>(size.size())).contiguous();
  const std::span next(order.const_data_ptr<int64_t>(), size.size());
  std::vector<size_t> part(size.size(), kTrain);
  for (size_t i = 0; i < kTrain; ++i) {
    for (auto group = next.begin(); group != next.end() && left[i] > 0; ++group) {
      const auto g = static_cast<size_t>(*group);
      if (part[g] != kTrain || size[g] > allowed.most || size[g] > left[i] + allowed.excess) continue;
      part[g] = i;
      left[i] -= size[g];
    }
  }
  return part;
}

/// Returns the sentences about this split.
std::vector<std::string> notes_for(const SplitRows& rows, const RowGroups& alike, const RowGroups& groups,
                                   const SplitOptions& options) {
  const auto n = static_cast<int64_t>(alike.of.size());
  std::vector<std::string> notes;
  if (groups.singly)
    notes.push_back(fmt::format(
        "few different inputs ({}), each in many {}s, which were split one by one; --split grouped holds "
        "whole inputs out and scores new ones",
        alike.count, options.noun));
  if (groups.large > 0) {
    const std::string which =
        fmt::format("{} of {} {}s repeat {} input{} too often to be held out together", groups.large_rows, n,
                    options.noun, groups.large, groups.large == 1 ? "" : "s");
    notes.push_back(options.kind == "auto"
                        ? which + ": they were split one by one; --split grouped keeps an input on one side"
                        : fmt::format("{}: they stay in training, and the held-out parts are fractions of "
                                      "the other {} {}s",
                                      which, n - groups.large_rows, options.noun));
  }
  std::vector<bool> trained(static_cast<size_t>(alike.count));
  for (int64_t row : rows.train) trained[static_cast<size_t>(alike.of[static_cast<size_t>(row)])] = true;
  int64_t repeated = 0;
  for (const auto* part : {&rows.test, &rows.valid, &rows.calibration})
    repeated += std::ranges::count_if(
        *part, [&](int64_t row) { return trained[static_cast<size_t>(alike.of[static_cast<size_t>(row)])]; });
  if (repeated > 0)
    notes.push_back(fmt::format(
        "{} of {} held-out {}s have the inputs of a training {}: their scores say nothing of new inputs",
        repeated, n - static_cast<int64_t>(rows.train.size()), options.noun, options.noun));
  return notes;
}

/// Deals the parts. `alike` groups the rows with identical inputs.
SplitRows split_alike(const RowGroups& alike, const SplitOptions& options, const Stream& stream) {
  const auto n = static_cast<int64_t>(alike.of.size());
  SplitRows rows;
  if (std::ranges::all_of(part_sizes(options, n), [](int64_t size) { return size == 0; })) {
    rows.train.resize(static_cast<size_t>(n));
    std::iota(rows.train.begin(), rows.train.end(), 0);
    return rows;
  }
  const RowGroups groups = dealt_groups(alike, options);
  const PartSizes asked = part_sizes(options, options.kind == "grouped" ? n - groups.large_rows : n);
  const Allowance allowed = allowance(options, n);
  const std::vector<size_t> part = dealt(sizes_of(groups), asked, allowed, stream);
  for (int64_t row = 0; row < n; ++row) {
    (rows.*kLists[part[static_cast<size_t>(groups.of[static_cast<size_t>(row)])]]).push_back(row);
  }
  check(!rows.train.empty(), "split_rows", "rows left for training",
        fmt::format("none of {} rows in {} groups of identical inputs", n, groups.count),
        groups.count < n ? "use --split random, or lower the fractions"
                         : "lower the fractions, or give more rows");
  for (size_t i = 0; i < kTrain; ++i) {
    check(part_sizes(options, n)[i] == 0 || !(rows.*kLists[i]).empty(), "split_rows",
          fmt::format("groups of at most {} rows to hold out, for --split grouped", allowed.most),
          fmt::format("{} of {} rows in {} larger groups of identical inputs", groups.large_rows, n,
                      groups.large),
          "use --split auto, which splits their rows one by one, or raise the fractions");
  }
  rows.notes = notes_for(rows, alike, groups, options);
  for (size_t i = 0; i < kTrain; ++i) {
    const auto size = static_cast<int64_t>((rows.*kLists[i]).size());
    if (size < asked[i])
      rows.notes.push_back(
          fmt::format("the {} part has {} of the {} {}s that were asked for: the other inputs come too "
                      "often to be held out together",
                      kNames[i], size, asked[i], options.noun));
  }
  return rows;
}

}  // namespace

RowGroups row_groups(const Table& table, const SplitOptions& options) {
  check_options(table.rows, options);
  return dealt_groups(alike_rows(table, options), options);
}

RowGroups row_groups(const std::vector<int64_t>& alike, const SplitOptions& options) {
  check_options(std::ssize(alike), options);
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

SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream) {
  check_options(table.rows, options);
  return split_alike(alike_rows(table, options), options, stream);
}

SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options, const Stream& stream) {
  check_options(std::ssize(alike), options);
  return split_alike(groups_of(alike), options, stream);
}

}  // namespace slimbayes
