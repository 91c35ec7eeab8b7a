// Reads several files as one table.
#include "slimbayes/data/table/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <system_error>
#include <utility>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

bool has_value(const Column& column) {
  return std::ranges::any_of(column.values, [](double x) { return !std::isnan(x); });
}

/// Gives a column without a value, or one whose values nobody reads, another kind.
void make_empty(Column& column, ColumnKind kind) {
  std::ranges::fill(column.values, kMissing);
  column.kind = kind;
  column.levels.clear();
}

/// The cells of a column of times with an offset from UTC and those without, also where all cells are alike.
struct Offsets {
  int64_t with = 0, without = 0, first_without = 0;
};

Offsets offsets_of(const Column& column) {
  if (column.with_offset > 0 || column.without_offset > 0)
    return {column.with_offset, column.without_offset, column.first_without};
  const auto missing = [](double x) { return std::isnan(x); };
  const auto present = std::ssize(column.values) - std::ranges::count_if(column.values, missing);
  if (column.offsets) return {present, 0, 0};
  return {0, present, std::ranges::find_if_not(column.values, missing) - column.values.begin()};
}

/// Joins what is known of the offsets of two columns of times, the second of which begins at this row.
void join_offsets(Column& to, const Column& from, int64_t row) {
  if (to.kind != ColumnKind::datetime) return;
  const Offsets one = offsets_of(to), other = offsets_of(from);
  to.offsets = to.offsets || from.offsets;
  const int64_t with = one.with + other.with, without = one.without + other.without;
  const bool mixed = with > 0 && without > 0;
  to.with_offset = mixed ? with : 0;
  to.without_offset = mixed ? without : 0;
  to.first_without = !mixed ? 0 : one.without > 0 ? one.first_without : row + other.first_without;
}

/// Returns the paths of the tables in a folder and its folders, sorted.
std::vector<fs::path> tables_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  const auto is_hidden = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name.starts_with('_');
  };
  auto at = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code unknown;
    if (is_hidden(at->path()))
      at.disable_recursion_pending();
    else if (is_table_name(at->path()) && at->is_regular_file(unknown))
      files.push_back(at->path());
  }
  if (failed)
    throw DataError(folder.string(),
                    fmt::format("expected a folder that can be listed; received: {}; check its permissions",
                                failed.message()));
  if (files.empty())
    throw DataError(folder.string(),
                    "expected tables in the folder (.csv, .parquet, .feather and the like); received none; "
                    "check the path");
  std::ranges::sort(files);
  return files;
}

/// Throws DataError if a file stands in the list twice, also by another name.
void check_once(const std::vector<fs::path>& files) {
  std::map<fs::path, const fs::path*> seen;
  for (const fs::path& file : files) {
    std::error_code unknown;
    const fs::path own = fs::canonical(file, unknown);
    if (!unknown && !seen.try_emplace(own, &file).second)
      throw DataError(file.string(),
                      "expected each file of a table once; received this one twice; leave it out");
  }
}

}  // namespace

std::vector<fs::path> files_of_table(const std::vector<fs::path>& given) {
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code unknown;
    if (fs::is_directory(path, unknown)) {
      const std::vector<fs::path> own = tables_in(path);
      files.insert(files.end(), own.begin(), own.end());
    } else {
      files.push_back(path);
    }
  }
  check_once(files);
  return files;
}

std::string partition_note(const std::vector<TablePart>& files) {
  for (const TablePart& file : files)
    for (const fs::path& folder : fs::path(file.source).parent_path()) {
      const std::string name = folder.string();
      const size_t equals = name.find('=');
      if (equals != std::string::npos && equals > 0)
        return fmt::format(
            "the name of the folder '{}' is not read: what its files have in common is in no column; write "
            "the column into the files",
            foreign_text(name));
    }
  return "";
}

uint64_t JoinedTable::bytes() const {
  return 8 * static_cast<uint64_t>(whole_.rows) * whole_.columns.size() + text_;
}

void JoinedTable::add(Table part) {
  if (part.numbers.empty()) whole_.parts.push_back({part.source, whole_.rows});
  whole_.numbers.insert(whole_.numbers.end(), part.numbers.begin(), part.numbers.end());
  if (whole_.columns.empty())
    whole_.columns = std::move(part.columns);
  else
    for (size_t c = 0; c < whole_.columns.size(); ++c) append(whole_.columns[c], part.columns[c]);
  whole_.rows += part.rows;
}

Table JoinedTable::take(const std::vector<int64_t>& rows) {
  std::vector<int64_t> rest;
  for (int64_t row = 0; row < whole_.rows; ++row)
    if (!std::ranges::binary_search(rows, row)) rest.push_back(row);
  Table taken = take_rows(whole_, rows);
  whole_ = take_rows(whole_, rest);
  // Only the levels that are left stay, so that bytes() becomes smaller with the rows.
  levels_.clear();
  text_ = 0;
  for (Column& column : whole_.columns) {
    if (column.kind != ColumnKind::categorical) continue;
    Column before = column;
    column.levels.clear();
    renumber(column, before);
    column.values = std::move(before.values);
  }
  return taken;
}

void JoinedTable::append(Column& to, Column& from) {
  if (to.kind != from.kind) {  // one of them has no value
    has_value(from) ? make_empty(to, from.kind) : make_empty(from, to.kind);
  }
  if (to.kind == ColumnKind::categorical) renumber(to, from);
  if (to.large.empty() && !from.large.empty()) {
    to.large = from.large;
    to.large_row = whole_.rows + from.large_row;
  }
  if (to.words.empty()) to.words = from.words;
  if (from.grouped.empty()) to.grouped = "";  // said of the whole only if every file looks so
  join_offsets(to, from, whole_.rows);
  if (to.kept) to.kept = from.kept ? joined_cells(to.kept, from.kept) : nullptr;
  to.values.insert(to.values.end(), from.values.begin(), from.values.end());
  from = {};
}

/// Gives the levels of `from` the numbers that they have in `to`, which gets those that it lacks.
void JoinedTable::renumber(Column& to, Column& from) {
  std::map<std::string, double>& known = levels_[to.name];
  for (size_t i = known.size(); i < to.levels.size(); ++i)
    known.emplace(to.levels[i], static_cast<double>(i));
  std::vector<double> numbers(from.levels.size(), kMissing);
  for (double& x : from.values) {
    if (std::isnan(x)) continue;
    const auto level = static_cast<size_t>(x);
    if (std::isnan(numbers[level])) {
      const auto [found, fresh] =
          known.try_emplace(from.levels[level], static_cast<double>(to.levels.size()));
      if (fresh) {
        to.levels.push_back(from.levels[level]);
        text_ += from.levels[level].size() + sizeof(std::string);
      }
      numbers[level] = found->second;
    }
    x = numbers[level];
  }
}

Reading KnownColumns::next() const {
  Reading next = reading_;
  for (const Known& column : columns_) {
    const bool named = std::ranges::find(next.names, column.name) != next.names.end();
    if (!named && column.has_value && is_needed(reading_, column.name))
      next.kinds.try_emplace(column.name, column.kind);
  }
  return next;
}

void KnownColumns::know(const std::map<std::string, ColumnKind, std::less<>>& kinds) {
  for (Known& column : columns_)
    if (const auto found = kinds.find(column.name); found != kinds.end())
      column = {column.name, found->second, true};
}

void KnownColumns::take(Table& part) {
  if (columns_.empty()) {
    first_ = part.source;
    for (const Column& column : part.columns)
      columns_.push_back({column.name, column.kind, has_value(column)});
    return;
  }
  match_row_labels(part);
  check_names(part);
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto own = std::ranges::find(part.columns.begin() + static_cast<int64_t>(c), part.columns.end(),
                                       columns_[c].name, &Column::name);
    std::iter_swap(part.columns.begin() + static_cast<int64_t>(c), own);
    agree(columns_[c], part.columns[c], part);
  }
}

/// Gives the part the columns of row labels that the first one has: pandas writes an index only where it is
/// not the numbers from 0.
void KnownColumns::match_row_labels(Table& part) const {
  std::erase_if(part.columns, [this](const Column& column) {
    return is_row_label(column.name) &&
           std::ranges::find(columns_, column.name, &Known::name) == columns_.end();
  });
  for (const Known& column : columns_)
    if (is_row_label(column.name) && part.find(column.name) == nullptr)
      part.columns.push_back(
          {column.name, column.kind, std::vector<double>(static_cast<size_t>(part.rows), kMissing), {}});
}

void KnownColumns::check_names(const Table& part) const {
  const auto wrong = [&](const std::string& received) {
    throw DataError(part.source,
                    fmt::format("expected the columns of '{}', the first file of this table; received {}; "
                                "read the files apart, or write them alike",
                                foreign_text(first_), received));
  };
  for (const Known& column : columns_)
    if (part.find(column.name) == nullptr) wrong("none named " + in_quotes(column.name));
  for (const Column& column : part.columns)
    if (std::ranges::find(columns_, column.name, &Known::name) == columns_.end())
      wrong(in_quotes(column.name) + " too");
}

void KnownColumns::agree(Known& known, Column& column, const Table& part) const {
  const bool value = has_value(column);
  if (known.kind == column.kind) {
    known.has_value = known.has_value || value;
  } else if (!value || (known.has_value && !is_needed(reading_, known.name))) {
    make_empty(column, known.kind);
  } else if (!known.has_value) {
    known = {known.name, column.kind, true};
  } else {
    throw DataError(
        part.source,
        fmt::format("expected {} cells in column {}, as in '{}'; received {} ones; write the files "
                    "alike, or leave the column out (fit: `.ignore`)",
                    kind_name(known.kind), in_quotes(known.name), foreign_text(first_),
                    kind_name(column.kind)));
  }
}

Table read_tables(const std::vector<fs::path>& files, std::string source, const Reading& reading,
                  const TableLimits& limits) {
  KnownColumns known(reading);
  const std::string name = source;
  JoinedTable joined(std::move(source));
  for (const fs::path& file : files_of_table(files)) {
    TableLimits left = limits;  // by default those of the memory at hand, of which the rows so far have taken
    if (left.memory > 0) {
      TableBound::of(limits, 0).check(joined.bytes(), name);
      left.memory = std::max<uint64_t>(left.memory - joined.bytes(), 1);
    }
    Table part = read_table(file, known.next(), left);
    known.take(part);
    joined.add(std::move(part));
  }
  return std::move(joined).table();
}

}  // namespace slimbayes
