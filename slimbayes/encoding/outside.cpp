// Computes two distances of a row x from the training rows. They depend on the inputs alone, and so mean the
// same for every method.
// - beyond: the maximum over columns of how far x lies beyond [low, high] of the training cells, in
//   half-ranges. A row with a positive value is an extrapolation. A row in a region without training rows,
//   but within the range of every column, has the value 0.
// - distance: sqrt(mean over columns of ((x - mean) / sd)^2), the Mahalanobis distance with a diagonal
//   covariance. It needs no matrix inverse and works with more columns than rows, but ignores correlations.
#include "slimbayes/encoding/outside.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSquarable = 1e150;
constexpr double kRounding = 1e-6;  // half-ranges beyond the range that count as inside

/// Returns (x - y) / unit without an overflow of x - y; at most the largest double.
double steps_between(double x, double y, double unit) {
  const double whole = (x - y) / unit;
  return std::min(std::isfinite(whole) ? whole : 2 * ((x / 2 - y / 2) / unit), kLargest);
}

}  // namespace

double half_ranges_beyond(double x, const Encoder::Feature& feature) {
  const Encoder::Range& range = *feature.range;
  const double half = range.high / 2 - range.low / 2;
  // If every row gives the scale (scale-on all), the training rows alone may be constant, with a half-range
  // of 0. The unit is then the scale of all rows.
  const double unit = half > 0 ? half : feature.scale;
  const double by = std::max(steps_between(x, range.high, unit), steps_between(range.low, x, unit));
  return by > kRounding ? by : 0;
}

void DistanceSum::add(double x, const Encoder::Feature& feature) {
  ++columns_;
  if (std::isnan(x)) return;
  const double sd = feature.range->sd > 0 ? feature.range->sd : feature.scale;
  const double z = steps_between(std::max(x, feature.fill), std::min(x, feature.fill), sd);
  if (z < kSquarable)
    squares_ += z * z;
  else
    large_ = std::hypot(large_, z);
}

double DistanceSum::root_mean_square() const {
  return columns_ == 0
             ? std::numeric_limits<double>::quiet_NaN()
             : std::min(std::hypot(large_, std::sqrt(squares_)) / std::sqrt(static_cast<double>(columns_)),
                        kLargest);
}

std::optional<Outside> outside(const Encoder& encoder, const Table& table) {
  const auto n = static_cast<size_t>(table.rows);
  Outside far{0, {}, std::vector<double>(n), std::vector<double>(n)};
  std::vector<DistanceSum> sums(n);
  bool measured = false;
  for (const Encoder::Feature& feature : encoder.columns()) {
    if (!feature.range) continue;
    const Column* column = table.find(feature.name);
    if (column == nullptr) refuse("outside", "a column " + in_quotes(feature.name), "a table without it");
    Outside::Beyond here{feature.name};
    measured = true;
    for (size_t row = 0; row < n; ++row) {
      const double x = column->values[row];
      sums[row].add(x, feature);
      if (std::isnan(x)) continue;
      const double by = half_ranges_beyond(x, feature);
      far.beyond[row] = std::max(far.beyond[row], by);
      if (by > 0) ++here.rows;
      if (by > here.farthest) {
        here.farthest = by;
        here.row = static_cast<int64_t>(row);
      }
    }
    if (here.rows > 0) far.columns.push_back(std::move(here));
  }
  if (!measured) return std::nullopt;
  for (size_t row = 0; row < n; ++row) far.distance[row] = sums[row].root_mean_square();
  far.rows = std::ranges::count_if(far.beyond, [](double by) { return by > 0; });
  std::ranges::stable_sort(far.columns, std::greater{}, &Outside::Beyond::farthest);
  return far;
}

std::string outside_text(const Outside& far, const Table& table) {
  constexpr size_t kShown = 4;
  if (far.rows == 0) return "";
  std::string text = fmt::format("{} of {} rows {} outside the training range: ", far.rows, table.rows,
                                 far.rows == 1 ? "lies" : "lie");
  for (size_t i = 0; i < far.columns.size() && i < kShown; ++i) {
    const Outside::Beyond& here = far.columns[i];
    text += fmt::format("{}{} ({} row{}; {} lies {:.4g} half-ranges beyond)", i == 0 ? "" : ", ",
                        in_quotes(here.name), here.rows, here.rows == 1 ? "" : "s",
                        row_place(table, here.row), here.farthest);
  }
  if (far.columns.size() > kShown) text += fmt::format(" and {} more columns", far.columns.size() - kShown);
  return text;
}

}  // namespace slimbayes
