#include "slimbayes/data/bad_row.h"

#include <fmt/format.h>

namespace slimbayes {

std::string bad_rows_text(const Table& table, const std::vector<BadRow>& bad, const std::string& done) {
  constexpr size_t kShown = 3;
  std::string text = fmt::format("{} of {} rows without an answer, {}: ", bad.size(), table.rows, done);
  for (size_t i = 0; i < bad.size() && i < kShown; ++i)
    text +=
        fmt::format("{}data row {}: {}", i == 0 ? "" : "; ", row_number(table, bad[i].row), bad[i].reason);
  if (bad.size() > kShown) text += fmt::format("; and {} more", bad.size() - kShown);
  return text;
}

std::vector<int64_t> rows_without(const std::vector<BadRow>& bad, int64_t rows) {
  std::vector<int64_t> good;
  good.reserve(static_cast<size_t>(rows));
  auto next = bad.begin();
  for (int64_t row = 0; row < rows; ++row) {
    if (next != bad.end() && next->row == row)
      ++next;
    else
      good.push_back(row);
  }
  return good;
}

}  // namespace slimbayes
