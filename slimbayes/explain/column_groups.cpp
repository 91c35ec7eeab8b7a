#include "slimbayes/explain/column_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/explain/association.h"

namespace slimbayes {
namespace {

/// Returns the pieces of a text between the separators, without blanks around them.
std::vector<std::string> pieces_of(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    pieces.emplace_back(trimmed(text.substr(from, to - from)));
    from = to + 1;
  }
  return pieces;
}

}  // namespace

std::string ColumnGroup::name() const { return fmt::format("{}", fmt::join(columns, " + ")); }

std::vector<ColumnGroup> single_columns(const ExplainedRows& rows) {
  std::vector<ColumnGroup> groups;
  for (const InputColumn& column : input_columns(rows)) groups.push_back({{column.feature->name}});
  return groups;
}

std::vector<ColumnGroup> given_groups(const ExplainedRows& rows,
                                      const std::vector<std::vector<std::string>>& groups) {
  std::vector<ColumnGroup> out;
  std::set<std::string> named;
  for (const std::vector<std::string>& group : groups) {
    check(!group.empty(), "explain", "groups of at least one column (`.groups`)", "an empty group",
          "leave it out");
    for (const std::string& name : group) {
      input_column(rows, name);
      if (!named.insert(name).second)
        refuse("explain", "each column once in `.groups`", fmt::format("{} twice", in_quotes(name)),
               "name it in one group");
    }
    out.push_back({group});
  }
  for (ColumnGroup& single : single_columns(rows))
    if (!named.contains(single.columns.front())) out.push_back(std::move(single));
  return out;
}

std::vector<ColumnGroup> associated_groups(const ExplainedRows& rows) {
  const std::vector<InputColumn> columns = input_columns(rows);
  std::vector<RankedColumn> cells;
  for (const InputColumn& column : columns) cells.push_back(ranked(*column.cells));
  std::vector<size_t> group(columns.size());  // of each column the first of its group
  std::iota(group.begin(), group.end(), 0);
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (group[i] == group[j] || association(cells[i], cells[j]) <= kAssociated) continue;
      const size_t kept = std::min(group[i], group[j]), gone = std::max(group[i], group[j]);
      std::ranges::replace(group, gone, kept);
    }
  }
  std::vector<ColumnGroup> out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (group[i] != i) continue;
    ColumnGroup one;
    for (size_t j = i; j < columns.size(); ++j)
      if (group[j] == i) one.columns.push_back(columns[j].feature->name);
    out.push_back(std::move(one));
  }
  return out;
}

std::string groups_note(const std::vector<ColumnGroup>& groups) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::string> joined;
  for (const ColumnGroup& group : groups)
    if (group.columns.size() > 1) joined.push_back(in_quotes(group.name()));
  if (joined.empty()) return "";
  const size_t all = joined.size();
  joined.resize(std::min(all, kMostNamed));
  return fmt::format(
      "columns that go together (a rank correlation, correlation ratio or Cramer's V above {}) are permuted "
      "together: {}{}",
      kAssociated, fmt::join(joined, ", "),
      all > kMostNamed ? fmt::format(" and {} more", all - kMostNamed) : "");
}

std::vector<std::vector<std::string>> groups_of_text(const std::string& text) {
  std::vector<std::vector<std::string>> groups;
  for (const std::string& group : pieces_of(text, ';')) {
    groups.push_back(pieces_of(group, ','));
    if (std::ranges::find(groups.back(), "") != groups.back().end())
      refuse("explain", "groups of columns such as a,b;c,d, or auto (`.groups`)", in_quotes(text),
             "leave out what stands between two separators without a name");
  }
  return groups;
}

}  // namespace slimbayes
