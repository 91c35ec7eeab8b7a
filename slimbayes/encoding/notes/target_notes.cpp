// Notes for users who give no --likelihood: they say which one was taken, and which other one may fit better.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/moments.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/encoding/target_cells.h"

namespace slimbayes {

std::string two_classes_note(const Table& table, const std::string& target) {
  const auto values = two_whole_numbers(target_column(table, target));
  if (!values) return "";
  return fmt::format(
      "the target {} holds {} and {} alone, which are taken as two classes; `.likelihood=gaussian` fits them "
      "as numbers",
      in_quotes(target), values->first, values->second);
}

std::string likelihood_hint(const Table& table, const std::string& target, const std::vector<int64_t>& rows) {
  constexpr double kSmallMean = 20;
  constexpr size_t kFewRows = 20;  // with fewer rows, counts cannot be recognised
  const Column& column = target_column(table, target);
  std::vector<double> values;
  for (int64_t row : rows) values.push_back(target_in(table, column, row));
  const std::set<double> different(values.begin(), values.end());
  const bool whole = std::ranges::all_of(different, [](double y) { return y >= 0 && y == std::floor(y); });
  if (!whole) return "";
  if (different.size() == 2 && values.size() > 2)
    return fmt::format(
        "the target {} holds {} and {} alone, one of them in a single row, and is fitted as a number: a "
        "class needs two rows",
        in_quotes(target), *different.begin(), *different.rbegin());
  if (values.size() < kFewRows) return "";
  const Moments m = moments(values);
  const auto up_to_mean = std::ranges::count_if(different, [&](double y) { return y <= m.mean; });
  const double possible = std::floor(m.mean) - *different.begin() + 1;
  const bool counts = different.size() >= 3 && *different.begin() <= 1 && m.mean <= kSmallMean &&
                      m.sd * m.sd >= m.mean / 2 && 2 * static_cast<double>(up_to_mean) >= possible;
  if (!counts) return "";
  return fmt::format(
      "the target {} holds whole numbers from {} to {} alone and is fitted by a Gaussian: if they are "
      "counts, `.likelihood=poisson`, or negative-binomial where they vary more; if they number classes, "
      "softmax",
      in_quotes(target), *different.begin(), *different.rbegin());
}

}  // namespace slimbayes
