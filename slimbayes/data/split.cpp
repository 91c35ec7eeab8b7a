// Training, validation and test rows.
//
// Tables hold repeated rows (a seventh of the red wines): split row by row, a model is validated on inputs
// that it was trained on, and its uncertainty looks better than it is. So rows with identical inputs are a
// group, found by a 128-bit hash of the cells, and groups are dealt whole, in a seeded order: test first,
// then validation, then calibration, the rest for training. An identifier or free text, which the encoder
// drops, is no input and would make every row a group. A table of a few combinations, each in many rows, is no such
// table: there a group is all that is known of its inputs. O(n d). Without repeated rows a grouped split is the
// random one of the same stream.
#include "slimbayes/data/split.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/encoder.h"

namespace slimbayes {
namespace {

constexpr int64_t kManyAlike = 10;  // rows of one input, on average

struct SameHash {
  bool operator()(const XXH128_hash_t& a, const XXH128_hash_t& b) const { return XXH128_isEqual(a, b) != 0; }
};
struct LowBits {
  size_t operator()(const XXH128_hash_t& h) const { return static_cast<size_t>(h.low64); }
};

/// Equal cells have equal bits: one NaN, one zero.
double canonical(double x) {
  if (std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
  return x == 0 ? 0.0 : x;
}

/// As the encoder judges it, but over all rows: the training rows are not known yet.
bool is_free_text(const Column& column) {
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

/// Group of every row, numbered by first appearance.
std::vector<int64_t> groups_by_inputs(const Table& table, const std::vector<std::string>& not_inputs) {
  std::vector<const Column*> inputs = input_columns(table, not_inputs);
  std::vector<double> cells(inputs.size());
  std::unordered_map<XXH128_hash_t, int64_t, LowBits, SameHash> index;
  index.reserve(static_cast<size_t>(table.rows));
  std::vector<int64_t> groups(static_cast<size_t>(table.rows));
  for (size_t row = 0; row < groups.size(); ++row) {
    for (size_t c = 0; c < inputs.size(); ++c) cells[c] = canonical(inputs[c]->values[row]);
    XXH128_hash_t hash = XXH3_128bits(cells.data(), cells.size() * sizeof(double));
    groups[row] = index.try_emplace(hash, static_cast<int64_t>(index.size())).first->second;
  }
  return groups;
}

/// ceil(fraction * n); 0.07 * 100 is 7 although its product is not.
int64_t part_size(double fraction, int64_t n) {
  return static_cast<int64_t>(std::ceil(fraction * static_cast<double>(n) - 1e-9));
}

void check_options(const Table& table, const SplitOptions& options) {
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
  check(table.rows > 0, "split_rows", "rows to split", "none");
}

}  // namespace

RowGroups row_groups(const Table& table, const SplitOptions& options) {
  check_options(table, options);
  if (options.kind != "random") {
    RowGroups groups{groups_by_inputs(table, options.not_inputs)};
    groups.count = 1 + *std::ranges::max_element(groups.of);
    if (options.kind == "grouped" || groups.count * kManyAlike >= table.rows) return groups;
  }
  RowGroups groups{std::vector<int64_t>(static_cast<size_t>(table.rows)), table.rows, options.kind == "auto"};
  std::iota(groups.of.begin(), groups.of.end(), 0);
  return groups;
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
  check_options(table, options);
  int64_t n = table.rows;
  // In the order in which they are dealt; the last list takes what is left.
  std::vector<int64_t> SplitRows::*const lists[] = {&SplitRows::test, &SplitRows::valid,
                                                    &SplitRows::calibration, &SplitRows::train};
  int64_t left[] = {part_size(options.test_fraction, n), part_size(options.valid_fraction, n),
                    part_size(options.calibration_fraction, n)};
  constexpr size_t kTrain = std::size(left);
  SplitRows rows;
  if (std::ranges::all_of(left, [](int64_t size) { return size == 0; })) {
    rows.train.resize(static_cast<size_t>(n));
    std::iota(rows.train.begin(), rows.train.end(), 0);
    return rows;
  }
  const auto [group, groups, singly] = row_groups(table, options);

  std::vector<int64_t> size(static_cast<size_t>(groups));
  for (int64_t g : group) ++size[static_cast<size_t>(g)];
  std::vector<size_t> part(static_cast<size_t>(groups), kTrain);
  at::Tensor order = stream.permutation(groups).contiguous();
  const int64_t* next = order.const_data_ptr<int64_t>();
  size_t dealt_to = 0;
  for (int64_t dealt = 0; dealt < groups; ++dealt) {
    while (dealt_to < kTrain && left[dealt_to] <= 0) ++dealt_to;
    if (dealt_to == kTrain) break;
    auto g = static_cast<size_t>(next[dealt]);
    part[g] = dealt_to;
    left[dealt_to] -= size[g];
  }

  rows.singly = singly;
  for (int64_t row = 0; row < n; ++row) {
    (rows.*lists[part[static_cast<size_t>(group[static_cast<size_t>(row)])]]).push_back(row);
  }
  check(!rows.train.empty(), "split_rows", "rows left for training",
        fmt::format("none of {} rows in {} groups of identical inputs", n, groups),
        groups < n ? "use --split random, or lower the fractions" : "lower the fractions, or give more rows");
  return rows;
}

}  // namespace slimbayes
