#include "slimbayes/data/table/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/cells.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

using Pairs = std::map<std::string, std::string>;

[[noreturn]] void refuse(const std::string& expected, const std::string& received, const std::string& hint) {
  throw std::invalid_argument(
      fmt::format("[columns] expected {}; received {}; {}", expected, received, hint));
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string_view part = list.substr(at, end - at);
    const bool whole = part.find('=') != std::string_view::npos;
    if (!parts.empty() && (!whole || parts.back().find('=') == std::string::npos))
      parts.back() += "," + std::string(part);
    else
      parts.emplace_back(part);
    at = end + 1;
  }
  return parts;
}

Pairs pairs_of(const std::vector<std::string>& lists, const std::string& flag, const std::string& example) {
  Pairs pairs;
  for (const std::string& list : lists) {
    for (const std::string& part : parts_of(list)) {
      const size_t at = part.find('=');
      const std::string name(trimmed(std::string_view(part).substr(0, at)));
      if (at == std::string::npos || name.empty())
        refuse(fmt::format("pairs {} for {}", example, flag), in_quotes(part), "separate pairs by commas");
      const std::string value(trimmed(std::string_view(part).substr(at + 1)));
      if (!pairs.emplace(name, value).second)
        refuse(fmt::format("each column once in {}", flag), fmt::format("{} twice", in_quotes(name)),
               "leave one out");
    }
  }
  return pairs;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the name that a column with this name in the file has after the changes.
std::string new_name(const std::string& name, const ColumnChanges& changes) {
  const auto found = changes.renamed.find(name);
  return found == changes.renamed.end() ? name : found->second;
}

Column constant(const std::string& name, const std::string& cell, int64_t rows, const Reading& reading) {
  const bool missing = is_mark(trimmed(cell), reading.missing, reading.notation);
  const std::vector<std::string_view> cells = {missing ? std::string_view() : cell};
  const auto kind = reading.kinds.find(name);
  try {
    Column column = holds(reading.names, name) ? column_of_kind(name, ColumnKind::categorical, cells)
                    : kind != reading.kinds.end()
                        ? column_of_kind(name, kind->second, cells, reading.notation)
                        : column_from_cells(name, cells, true, reading.notation);
    column.values.assign(static_cast<size_t>(rows), column.values.at(0));
    return column;
  } catch (const BadCell&) {
    const std::string_view wanted = kind == reading.kinds.end() ? "finite" : kind_name(kind->second);
    refuse(fmt::format("a {} cell for {} in `.fill`, as in training", wanted, in_quotes(name)),
           in_quotes(cell), "an empty cell is a missing one");
  }
}

}  // namespace

ColumnChanges column_changes(const std::vector<std::string>& renames, const std::vector<std::string>& fills) {
  ColumnChanges changes{pairs_of(renames, "`.rename`", "FILE=MODEL (two names of a column)"),
                        pairs_of(fills, "`.fill`", "COLUMN=CELL")};
  std::set<std::string> given;
  for (const auto& [from, to] : changes.renamed) {
    if (to.empty())
      refuse("a new name for each column in `.rename`", fmt::format("none for {}", in_quotes(from)),
             "write FILE=MODEL");
    if (!given.insert(to).second)
      refuse("other new names for other columns in `.rename`", fmt::format("{} twice", in_quotes(to)),
             "leave one out");
    if (changes.filled.contains(to))
      refuse("a column in `.rename` or in `.fill`", fmt::format("{} in both", in_quotes(to)),
             "leave one out");
  }
  return changes;
}

void check_columns_of_model(const ColumnChanges& changes, const std::vector<std::string>& columns) {
  for (const auto& [from, to] : changes.renamed) {
    if (!holds(columns, to))
      refuse("a column of the model after the '=' of `.rename`", in_quotes(to),
             holds(columns, from) && !changes.filled.contains(from)
                 ? fmt::format("the pair reads FILE=MODEL: write `.rename` {}={}", foreign_text(to),
                               foreign_text(from))
                 : nearest_hint(to, columns));
  }
  for (const auto& [name, cell] : changes.filled) {
    if (!holds(columns, name))
      refuse("a column of the model in `.fill`", in_quotes(name), nearest_hint(name, columns));
  }
}

Reading before_changes(const Reading& reading, const ColumnChanges& changes) {
  if (changes.renamed.empty()) return reading;
  Reading out = reading;  // lists the model's names too, which the file may have already
  for (const auto& [from, to] : changes.renamed) {
    out.kinds.erase(from);
    if (const auto kind = reading.kinds.find(to); kind != reading.kinds.end()) out.kinds[from] = kind->second;
    for (auto list :
         {&Reading::names, &Reading::unused, &Reading::numbers, &Reading::labels, &Reading::kept}) {
      std::erase(out.*list, from);
      if (holds(reading.*list, to)) (out.*list).push_back(from);
    }
  }
  return out;
}

Table with_changes(Table table, const ColumnChanges& changes, const Reading& reading) {
  for (Column& column : table.columns) column.name = new_name(column.name, changes);
  for (const auto& [from, to] : changes.renamed) {
    if (std::ranges::count(table.columns, to, &Column::name) > 1)
      refuse(fmt::format("no column {} in '{}' for `.rename` {}={}", in_quotes(to),
                         foreign_text(table.source), foreign_text(from), foreign_text(to)),
             fmt::format("one beside {}", in_quotes(from)), "leave the pair out, or drop one of the columns");
  }
  for (const auto& [name, cell] : changes.filled) {
    if (table.find(name) == nullptr) table.columns.push_back(constant(name, cell, table.rows, reading));
  }
  return table;
}

ColumnChanges where_absent(const Table& table, const ColumnChanges& changes) {
  ColumnChanges out{{}, changes.filled};
  for (const auto& pair : changes.renamed) {
    if (table.find(pair.second) == nullptr) out.renamed.insert(pair);
  }
  return out;
}

ColumnChanges unneeded(const Table& table, const ColumnChanges& changes) {
  ColumnChanges out;
  for (const auto& pair : changes.renamed) {
    if (table.find(pair.first) == nullptr) out.renamed.insert(pair);
  }
  for (const auto& pair : changes.filled) {
    const auto gets = [&](const Column& column) { return new_name(column.name, changes) == pair.first; };
    if (std::ranges::any_of(table.columns, gets)) out.filled.insert(pair);
  }
  return out;
}

ColumnChanges common(const ColumnChanges& a, const ColumnChanges& b) {
  ColumnChanges out;
  std::ranges::set_intersection(a.renamed, b.renamed, std::inserter(out.renamed, out.renamed.end()));
  std::ranges::set_intersection(a.filled, b.filled, std::inserter(out.filled, out.filled.end()));
  return out;
}

void check_needed(const ColumnChanges& unneeded, const Table& table, bool others) {
  const std::string where = others ? "either file" : fmt::format("'{}'", foreign_text(table.source));
  for (const auto& [from, to] : unneeded.renamed) {
    if (!others)
      refuse(fmt::format("a column of {} before the '=' of `.rename`", where), in_quotes(from),
             nearest_hint(from, table.names()));
    refuse(fmt::format("a file with a column {} and none {} for `.rename` {}={}", in_quotes(from),
                       in_quotes(to), foreign_text(from), foreign_text(to)),
           "two files without need of it",
           table.find(to) != nullptr ? "leave the pair out" : nearest_hint(from, table.names()));
  }
  for (const auto& [name, cell] : unneeded.filled)
    refuse(fmt::format("a column in `.fill` that {}", others ? "one of the files lacks" : where + " lacks"),
           fmt::format("{}, which {}", in_quotes(name), others ? "both have" : "it has"), "leave it out");
}

}  // namespace slimbayes
