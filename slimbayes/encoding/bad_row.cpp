#include "slimbayes/encoding/bad_row.h"

namespace slimbayes {

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
