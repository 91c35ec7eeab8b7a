#include "slimbayes/data/table/column_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {
namespace {

constexpr const char* kRowLabels = "Unnamed: 0";  // pandas' name for a column without a name

}  // namespace

void name_row_labels(std::vector<std::string>& names) {
  if (names.size() < 2 || !names[0].empty()) return;
  names[0] = kRowLabels;
  for (int i = 1; std::ranges::count(names, names[0]) > 1; ++i)
    names[0] = fmt::format("{}.{}", kRowLabels, i);
}

void check_names(std::span<const std::string> names, const std::string& source) {
  if (names.empty())
    throw DataError(source, "expected named columns; received none; the first line names the columns");
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    int64_t column = static_cast<int64_t>(i) + 1;
    if (names[i].empty()) {
      throw DataError(
          source,
          fmt::format("expected a name for every column; received an empty name for column {}; name it in "
                      "the first line, or remove a trailing separator (only the first column, row labels, "
                      "may have none)",
                      column),
          1, column);
    }
    if (!seen.insert(names[i]).second) {
      throw DataError(source,
                      fmt::format("expected column names that differ; received {} twice; rename one",
                                  in_quotes(names[i])),
                      1, column);
    }
  }
}

}  // namespace slimbayes
