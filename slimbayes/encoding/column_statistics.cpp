#include "slimbayes/encoding/column_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace slimbayes {

namespace {

constexpr size_t kMostNumbers = 1001;    // of a target; one more than the most classes
constexpr size_t kMostLevels = 1000000;  // of a column of categories
constexpr size_t kNotCounted = SIZE_MAX;

/// Returns a number as a text that holds all its bits, and the number of such a text.
std::string exact_text(long double x) { return fmt::format("{:a}", x); }
long double exact_number(const nlohmann::json& text) {
  return std::strtold(text.get_ref<const std::string&>().c_str(), nullptr);
}

}  // namespace

ColumnStatistics column_statistics(const Column& column, const std::vector<int64_t>& rows,
                                   std::span<const double> weights) {
  ColumnStatistics out;
  out.rows = std::ssize(rows);
  std::vector<double> values, weights_of_values;
  values.reserve(rows.size());
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value)) continue;
    values.push_back(value);
    if (!weights.empty()) weights_of_values.push_back(weights[static_cast<size_t>(row)]);
  }
  out.present = std::ssize(values);
  if (column.kind == ColumnKind::categorical) {
    out.counts.resize(column.levels.size());
    for (const double value : values) ++out.counts[static_cast<size_t>(value)];
    if (!weights.empty()) out.weights.resize(column.levels.size());
    for (size_t i = 0; i < weights_of_values.size(); ++i)
      out.weights[static_cast<size_t>(values[i])] += weights_of_values[i];
  } else if (!values.empty()) {
    out.moments = moments(values, weights_of_values);
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
    count_number(value, 1);
    low_ = present_ + count == 0 ? value : std::min(low_, value);
    high_ = present_ + count == 0 ? value : std::max(high_, value);
    ++count;
    const long double step = static_cast<long double>(value) - mean;
    mean += step / static_cast<long double>(count);
    squares += step * (static_cast<long double>(value) - mean);
  }
  join_moments(count, mean, squares);
}

void StatisticsOfParts::join_moments(int64_t count, long double mean, long double squares) {
  if (count == 0) return;
  const auto n = static_cast<long double>(present_), m = static_cast<long double>(count);
  const long double apart = mean - mean_;
  mean_ += apart * m / (n + m);
  squares_ += squares + apart * apart * n * m / (n + m);
  present_ += count;
}

void StatisticsOfParts::count_number(double value, int64_t cells) {
  if (kind_ != target || many_numbers_) return;
  numbers_[value] += cells;
  if (numbers_.size() <= kMostNumbers) return;
  numbers_.clear();
  many_numbers_ = true;
}

/// Returns the place of a level in counts_; kNotCounted if there are too many levels.
size_t StatisticsOfParts::place_of(const std::string& level) {
  if (counts_.size() >= kMostLevels && !places_.contains(level)) return kNotCounted;
  const auto [found, fresh] = places_.try_emplace(level, counts_.size());
  if (fresh) counts_.push_back(0);
  return found->second;
}

void StatisticsOfParts::add_levels(const Column& column, const std::vector<int64_t>& rows) {
  std::vector<size_t> place(column.levels.size(), kNotCounted);
  for (const int64_t row : rows) {
    const double value = column.values[static_cast<size_t>(row)];
    if (std::isnan(value)) continue;
    const auto level = static_cast<size_t>(value);
    ++present_;
    if (kind_ == free_text) continue;
    if (place[level] == kNotCounted) place[level] = place_of(column.levels[level]);
    if (place[level] != kNotCounted) ++counts_[place[level]];
  }
}

void StatisticsOfParts::add(const StatisticsOfParts& other) {
  rows_ += other.rows_;
  many_numbers_ = many_numbers_ || other.many_numbers_;
  if (many_numbers_) numbers_.clear();
  for (const auto& [value, cells] : other.numbers_) count_number(value, cells);
  if (other.kind_ == free_text || !other.places_.empty()) {
    present_ += other.present_;
    for (const auto& [level, place] : other.places_)
      if (const size_t own = place_of(level); own != kNotCounted) counts_[own] += other.counts_[place];
    return;
  }
  if (other.present_ == 0) return;
  low_ = present_ == 0 ? other.low_ : std::min(low_, other.low_);
  high_ = present_ == 0 ? other.high_ : std::max(high_, other.high_);
  join_moments(other.present_, other.mean_, other.squares_);
}

std::vector<std::string> StatisticsOfParts::levels() const {
  std::vector<std::string> levels;
  for (const auto& [level, place] : places_) levels.push_back(level);
  return levels;
}

nlohmann::json StatisticsOfParts::as_json() const {
  nlohmann::json numbers = nlohmann::json::array(), levels = nlohmann::json::array();
  for (const auto& [value, cells] : numbers_) numbers.push_back({value, cells});
  for (const auto& [level, place] : places_) levels.push_back({level, counts_[place]});
  return {{"kind", static_cast<int>(kind_)},
          {"rows", rows_},
          {"present", present_},
          {"mean", exact_text(mean_)},
          {"squares", exact_text(squares_)},
          {"low", low_},
          {"high", high_},
          {"numbers", std::move(numbers)},
          {"many_numbers", many_numbers_},
          {"levels", std::move(levels)}};
}

StatisticsOfParts StatisticsOfParts::from_json(const nlohmann::json& json) {
  StatisticsOfParts out(static_cast<Kind>(json.at("kind").get<int>()));
  out.rows_ = json.at("rows").get<int64_t>();
  out.present_ = json.at("present").get<int64_t>();
  out.mean_ = exact_number(json.at("mean"));
  out.squares_ = exact_number(json.at("squares"));
  out.low_ = json.at("low").get<double>();
  out.high_ = json.at("high").get<double>();
  out.many_numbers_ = json.at("many_numbers").get<bool>();
  for (const auto& one : json.at("numbers")) out.numbers_[one.at(0).get<double>()] = one.at(1).get<int64_t>();
  for (const auto& one : json.at("levels"))
    out.counts_[out.place_of(one.at(0).get<std::string>())] = one.at(1).get<int64_t>();
  return out;
}

ColumnStatistics StatisticsOfParts::statistics() const {
  ColumnStatistics out;
  out.rows = rows_;
  out.present = present_;
  for (const auto& [level, place] : places_) out.counts.push_back(counts_[place]);
  out.numbers = numbers_;
  out.free_text = kind_ == free_text;
  if (!places_.empty() || present_ == 0 || kind_ == free_text) return out;
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
