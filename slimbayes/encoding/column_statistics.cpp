#include "slimbayes/encoding/column_statistics.h"

#include <algorithm>
#include <cmath>

namespace slimbayes {

namespace {

constexpr size_t kMostNumbers = 1001;    // of a target; one more than the most classes
constexpr size_t kMostLevels = 1000000;  // of a column of categories

}  // namespace

ColumnStatistics column_statistics(const Column& column, const std::vector<int64_t>& rows) {
  ColumnStatistics out;
  out.rows = std::ssize(rows);
  std::vector<double> values;
  values.reserve(rows.size());
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (!std::isnan(value)) values.push_back(value);
  }
  out.present = std::ssize(values);
  if (column.kind == ColumnKind::categorical) {
    out.counts.resize(column.levels.size());
    for (const double value : values) ++out.counts[static_cast<size_t>(value)];
  } else if (!values.empty()) {
    out.moments = moments(values);
    const auto [low, high] = std::ranges::minmax(values);
    out.low = low;
    out.high = high;
  }
  return out;
}

// The moments of two parts are joined as in Chan, Golub and LeVeque 1983. Squares of 1e300 overflow a double
// but not a long double.
void StatisticsOfParts::add(const Column& column, const std::vector<int64_t>& rows) {
  rows_ += std::ssize(rows);
  if (column.kind == ColumnKind::categorical) return add_levels(column, rows);
  int64_t count = 0;
  long double mean = 0, squares = 0;
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value)) continue;
    if (kind_ == target && !many_numbers_) ++numbers_[value];
    if (numbers_.size() > kMostNumbers) {
      numbers_.clear();
      many_numbers_ = true;
    }
    low_ = present_ + count == 0 ? value : std::min(low_, value);
    high_ = present_ + count == 0 ? value : std::max(high_, value);
    ++count;
    const long double step = static_cast<long double>(value) - mean;
    mean += step / static_cast<long double>(count);
    squares += step * (static_cast<long double>(value) - mean);
  }
  if (count == 0) return;
  const auto n = static_cast<long double>(present_), m = static_cast<long double>(count);
  const long double apart = mean - mean_;
  mean_ += apart * m / (n + m);
  squares_ += squares + apart * apart * n * m / (n + m);
  present_ += count;
}

void StatisticsOfParts::add_levels(const Column& column, const std::vector<int64_t>& rows) {
  std::vector<size_t> place(column.levels.size(), SIZE_MAX);
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value)) continue;
    const auto level = static_cast<size_t>(value);
    ++present_;
    if (kind_ == free_text) continue;
    if (place[level] == SIZE_MAX) {
      if (levels_.size() >= kMostLevels && !places_.contains(column.levels[level])) continue;
      const auto [found, fresh] = places_.try_emplace(column.levels[level], levels_.size());
      if (fresh) {
        levels_.push_back(column.levels[level]);
        counts_.push_back(0);
      }
      place[level] = found->second;
    }
    ++counts_[place[level]];
  }
}

ColumnStatistics StatisticsOfParts::statistics() const {
  ColumnStatistics out;
  out.rows = rows_;
  out.present = present_;
  out.counts = counts_;
  out.numbers = numbers_;
  out.free_text = kind_ == free_text;
  if (!levels_.empty() || present_ == 0 || kind_ == free_text) return out;
  out.low = low_;
  out.high = high_;
  out.moments = {static_cast<double>(mean_), 0, low_ / 2 + high_ / 2, high_ / 2 - low_ / 2};
  if (high_ > low_)
    out.moments.sd = static_cast<double>(std::sqrt(squares_ / static_cast<long double>(present_)));
  else
    out.moments = {low_, 0, low_, 0};
  return out;
}

}  // namespace slimbayes
