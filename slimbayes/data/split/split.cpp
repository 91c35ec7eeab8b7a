// Splits rows into training, validation, calibration and test parts.
//
// Groups of rows with identical inputs (row_groups) are dealt as a whole in a random order, which the stream
// determines: first to the test part, then to validation, then to calibration; the remaining groups are for
// training. O(n d). If no row is repeated, the kinds "grouped" and "random" give the same split for the same
// stream.
#include "slimbayes/data/split/split.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>

#include "slimbayes/core/check.h"

namespace slimbayes {
namespace {

// The parts in the order in which they are filled. The last one, training, takes the remaining groups.
constexpr std::vector<int64_t> SplitRows::*kLists[] = {&SplitRows::test, &SplitRows::valid,
                                                       &SplitRows::calibration, &SplitRows::train};
constexpr const char* kNames[] = {"test", "validation", "calibration"};
constexpr size_t kTrain = std::size(kNames);

/// Gives the groups of the fold options.fold to the test part. Each group goes to the fold with the fewest
/// rows so far, in the order `next`, so that every group that may be held out lies in one fold.
void deal_fold(const std::vector<int64_t>& size, std::span<const int64_t> next, int64_t most,
               const SplitOptions& options, std::vector<size_t>& part) {
  std::vector<int64_t> rows(static_cast<size_t>(options.folds));
  for (const int64_t group : next) {
    const auto g = static_cast<size_t>(group);
    if (size[g] > most) continue;
    const auto least = std::ranges::min_element(rows);
    *least += size[g];
    if (least - rows.begin() == options.fold) part[g] = 0;
  }
}

/// Returns the part of each group, as an index into kLists. `size` holds the number of rows of each group,
/// and `left` the number of rows that each part should get. A group that would make a part too large is tried
/// for the next part.
std::vector<size_t> dealt(const std::vector<int64_t>& size, PartSizes left, const Allowance& allowed,
                          const SplitOptions& options, const Stream& stream) {
  const at::Tensor order = stream.permutation(static_cast<int64_t>(size.size())).contiguous();
  const std::span next(order.const_data_ptr<int64_t>(), size.size());
  std::vector<size_t> part(size.size(), kTrain);
  if (options.folds > 0) {
    deal_fold(size, next, allowed.most, options, part);
    left[0] = 0;
  }
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

/// Returns sentences on how repeated inputs affected this split. `alike` groups the rows with identical
/// inputs, `groups` are those that were dealt.
std::vector<std::string> notes_for(const SplitRows& rows, const RowGroups& alike, const RowGroups& groups,
                                   const SplitOptions& options) {
  const auto n = static_cast<int64_t>(alike.of.size());
  std::vector<std::string> notes;
  if (groups.singly)
    notes.push_back(fmt::format(
        "few different inputs ({}), each in many {}s, which were split one by one; `.split=grouped` holds "
        "whole inputs out and scores new ones",
        alike.count, options.noun));
  if (groups.large > 0) {
    const std::string which =
        fmt::format("{} of {} {}s repeat {} input{} too often to be held out together", groups.large_rows, n,
                    options.noun, groups.large, groups.large == 1 ? "" : "s");
    notes.push_back(options.kind == "auto"
                        ? which + ": they were split one by one; `.split=grouped` keeps an input on one side"
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

/// Returns the split of the rows, given the groups of rows with identical inputs (`alike`).
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
  const std::vector<size_t> part = dealt(sizes_of(groups), asked, allowed, options, stream);
  for (int64_t row = 0; row < n; ++row) {
    (rows.*kLists[part[static_cast<size_t>(groups.of[static_cast<size_t>(row)])]]).push_back(row);
  }
  if (rows.train.empty())
    refuse("split_rows", "rows left for training",
           fmt::format("none of {} rows in {} groups of identical inputs", n, groups.count),
           groups.count < n ? "use `.split=random`, or lower the fractions"
                            : "lower the fractions, or give more rows");
  for (size_t i = 0; i < kTrain; ++i) {
    if (!(part_sizes(options, n)[i] == 0 || !(rows.*kLists[i]).empty()))
      refuse("split_rows",
             fmt::format("groups of at most {} rows to hold out, for `.split=grouped`", allowed.most),
             fmt::format("{} of {} rows in {} larger groups of identical inputs", groups.large_rows, n,
                         groups.large),
             "use `.split=auto`, which splits their rows one by one, or raise the fractions");
  }
  rows.notes = notes_for(rows, alike, groups, options);
  for (size_t i = 0; i < kTrain; ++i) {
    const auto size = static_cast<int64_t>((rows.*kLists[i]).size());
    if (size < asked[i] && (i > 0 || options.folds == 0))
      rows.notes.push_back(
          fmt::format("the {} part has {} of the {} {}s that were asked for: the other inputs come too often "
                      "to be held out together",
                      kNames[i], size, asked[i], options.noun));
  }
  return rows;
}

}  // namespace

SplitRows split_rows(const Table& table, const SplitOptions& options, const Stream& stream) {
  check_split(options, table.rows);
  return split_alike(alike_rows(table, options), options, stream);
}

SplitRows split_rows(const std::vector<int64_t>& alike, const SplitOptions& options, const Stream& stream) {
  check_split(options, std::ssize(alike));
  return split_alike(groups_of(alike), options, stream);
}

}  // namespace slimbayes
