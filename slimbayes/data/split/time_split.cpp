// Splits the rows of a table by time. Where the future is to be predicted, a random split scores a model
// between rows that it has seen, and its uncertainty looks better than it will be. The parts are filled from
// the latest row on.
#include "slimbayes/data/split/time_split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "slimbayes/core/check.h"
#include "slimbayes/data/rows/wild_cells.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/windows/time_series.h"

namespace slimbayes {
namespace {

constexpr const char* kSplitByTime = "split_by_time";

/// The parts that are held out, from the latest to the earliest, as part_sizes() counts them.
struct LaterPart {
  std::vector<int64_t> SplitRows::*rows;
  size_t size;  // its place in PartSizes
  const char* name;
};
constexpr std::array<LaterPart, 3> kLaterParts = {{{&SplitRows::test, 0, "test"},
                                                   {&SplitRows::calibration, 2, "calibration"},
                                                   {&SplitRows::valid, 1, "validation"}}};

/// Returns the columns of times: those that are named, else the only column of dates.
std::vector<std::string> time_columns(const Table& table, const std::vector<std::string>& named) {
  if (!named.empty()) return named;
  std::vector<std::string> dates;
  for (const Column& column : table.columns)
    if (column.kind == ColumnKind::datetime) dates.push_back(in_quotes(column.name));
  if (dates.size() != 1)
    refuse(kSplitByTime, "one column of dates for `.split=time`",
           dates.empty() ? "none" : fmt::format("{}", fmt::join(dates, ", ")),
           dates.empty() ? "name a column of numbers that rise with time by `.time`, or columns of the year, "
                           "month and day: `.time=year,month,day`"
                         : "name one of them by `.time`");
  for (const Column& column : table.columns)
    if (column.kind == ColumnKind::datetime) return {column.name};
  return {};
}

std::string time_text(const TimesOfRows& times, int64_t row) {
  const double time = times.of_row[static_cast<size_t>(row)];
  return times.calendar ? format_datetime(time) : fmt::format("{}", time);
}

/// The least jump of a wild time: that of a target (data/rows/wild_rows.cpp), for it decides the parts.
constexpr double kLeastTimeJump = 10;

/// Takes the rows whose time lies far beyond all others out of `order`, which the times sort. Returns a note
/// that names them; "" if there are none.
std::string leave_wild_times_out(const Table& table, const TimesOfRows& times,
                                 const std::vector<std::string>& columns, std::vector<int64_t>& order) {
  constexpr size_t kNamed = 5;
  const std::vector<int64_t> wild = wild_cells(times.of_row, kLeastTimeJump);
  if (wild.empty()) return "";
  std::erase_if(order, [&](int64_t row) { return std::ranges::binary_search(wild, row); });
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kNamed, wild.size()); ++i)
    named.push_back(fmt::format("{} ({})", time_text(times, wild[i]), row_place(table, wild[i])));
  if (wild.size() > kNamed) named.push_back(fmt::format("and {} more", wild.size() - kNamed));
  const bool one = wild.size() == 1;
  const char* them = one ? "it" : "them";
  return fmt::format(
      "the time {}: {} {} far beyond the others, {} to {}: the fit leaves {} out as wrong, in no part of "
      "the split: correct or remove {}, or take {} as right by `.wild_cells=keep`",
      in_quotes(fmt::format("{}", fmt::join(columns, ", "))), fmt::join(named, ", "), one ? "lies" : "lie",
      time_text(times, order.front()), time_text(times, order.back()), one ? "the row" : "the rows", them,
      them);
}

/// Returns a note if the column of times is an input, whose range all held-out rows leave; "" if
/// row_number_note() says so already.
std::string input_note(const Table& table, const std::vector<std::string>& columns,
                       const SplitOptions& options) {
  const Column& column = *table.find(columns.front());
  const bool ignored = std::ranges::find(options.not_inputs, column.name) != options.not_inputs.end();
  const bool noted = column.kind == ColumnKind::datetime && std::ranges::is_sorted(column.values);
  if (columns.size() > 1 || ignored || noted) return "";
  const std::string name = in_quotes(column.name);
  return fmt::format(
      "column {} splits the rows and is an input: held-out and later rows lie outside its training range, "
      "where answers are a guess; `.ignore` {} leaves it out",
      name, name);
}

/// Throws std::invalid_argument if a part, or the training part, has no row.
void check_parts(const SplitRows& split, const PartSizes& sizes, const TimesOfRows& times) {
  bool filled = !split.train.empty();
  for (const LaterPart& part : kLaterParts)
    filled = filled && (sizes[part.size] == 0) == (split.*part.rows).empty();
  if (filled) return;
  std::vector<double> different = times.of_row;
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  refuse(kSplitByTime, "rows of other times for each part of `.split=time`",
         fmt::format("{} of {}", counted(std::ssize(times.of_row), "row"),
                     counted(std::ssize(different), "different time")),
         "lower the fractions, name a finer column by `.time`, or give more rows");
}

}  // namespace

SplitRows split_by_time(const Table& table, const std::vector<std::string>& time,
                        const SplitOptions& options) {
  check_split(options, table.rows);
  check(options.folds == 0, kSplitByTime, "one split by time", "folds", "leave `.cross_validate` out");
  const std::vector<std::string> columns = time_columns(table, time);
  const TimesOfRows times = times_of_rows(table, columns);
  const auto time_of = [&](int64_t row) { return times.of_row[static_cast<size_t>(row)]; };
  std::vector<int64_t> order(static_cast<size_t>(table.rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, time_of);
  SplitRows split;
  if (options.without_wild_times) split.notes.push_back(leave_wild_times_out(table, times, columns, order));
  const PartSizes sizes = part_sizes(options, std::ssize(order));
  std::vector<std::string> begins;
  auto end = order.end();
  for (const LaterPart& part : kLaterParts) {
    if (sizes[part.size] == 0) continue;
    auto begin = end - std::min<int64_t>(sizes[part.size], end - order.begin());
    while (begin != order.begin() && begin != end && time_of(*(begin - 1)) == time_of(*begin)) --begin;
    (split.*part.rows).assign(begin, end);
    if (begin != end)
      begins.insert(begins.begin(),
                    fmt::format("{} {} rows from {}", end - begin, part.name, time_text(times, *begin)));
    end = begin;
  }
  split.train.assign(order.begin(), end);
  check_parts(split, sizes, times);
  split.notes.push_back(fmt::format("split by time ({}): {} training rows up to {}{}{}",
                                    in_quotes(fmt::format("{}", fmt::join(columns, ", "))),
                                    split.train.size(), time_text(times, *(end - 1)),
                                    begins.empty() ? "" : ", ", fmt::join(begins, ", ")));
  split.notes.push_back(input_note(table, columns, options));
  std::erase(split.notes, "");
  for (auto* part : {&split.train, &split.valid, &split.calibration, &split.test}) std::ranges::sort(*part);
  return split;
}

}  // namespace slimbayes
