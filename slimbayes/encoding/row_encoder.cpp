#include "slimbayes/encoding/row_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/encoding/bits.h"
#include "slimbayes/encoding/feature_cell.h"
#include "slimbayes/encoding/outside.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

constexpr const char* kFunction = "row";

std::optional<double> as_double(std::optional<bool> flag) {
  return flag ? std::optional<double>(*flag ? 1 : 0) : std::nullopt;
}

/// Returns the number of a cell of a column without categories; nullopt for a text of another kind.
std::optional<double> parsed(const Encoder::Feature& feature, std::string_view cell,
                             const Notation& notation) {
  switch (feature.kind) {
    case ColumnKind::boolean:
      return as_double(parse_bit(cell));
    case ColumnKind::datetime:
      return parse_datetime(cell, notation);
    default:
      break;
  }
  std::optional<double> number = parse_number(cell, notation);
  if (!number && feature.held_bits()) number = as_double(parse_boolean(cell));
  return number && std::isinf(*number) ? std::nullopt : number;  // NaN in any spelling is a missing cell
}

}  // namespace

double cell_number(const Encoder::Feature& column, std::string_view cell,
                   const std::vector<std::string>& missing, const Notation& notation) {
  cell = trimmed(cell);
  if (is_missing(cell) || is_mark(cell, missing, notation)) return kMissing;
  const std::optional<double> number = parsed(column, cell, notation);
  if (!number)
    throw DataError(kFunction, fmt::format("expected a {} cell in column {}; received {}",
                                           kind_name(column.kind), in_quotes(column.name), in_quotes(cell)));
  return *number;
}

RowEncoder::RowEncoder(const Encoder& encoder, std::vector<std::string> missing, Notation notation)
    : missing_(std::move(missing)), notation_(std::move(notation)) {
  for (const Encoder::Feature& feature : encoder.columns()) {
    if (feature.width() == 0) continue;
    if (!feature.levels.empty() && categorical_.empty()) categorical_ = feature.name;
    width_ += feature.width();
    features_.push_back(feature);
    names_.push_back(feature.name);
    bits_.push_back({-1, -1});
    if (!are_bits(feature.levels)) continue;
    for (size_t i = 0; i < feature.levels.size(); ++i)
      if (const auto bit = parse_bit(feature.levels[i])) bits_.back()[*bit ? 1 : 0] = static_cast<int64_t>(i);
  }
}

/// As level_slot of encoder.cpp, and as bits_as (encoding/bits.h) for levels that mean yes and no.
int64_t RowEncoder::level_of(size_t j, std::string_view cell) const {
  const std::vector<std::string>& levels = features_[j].levels;
  const auto at =
      std::ranges::lower_bound(levels, cell, {}, [](const std::string& l) { return std::string_view(l); });
  if (at != levels.end() && *at == cell) return at - levels.begin();
  const std::optional<bool> bit = parse_bit(cell);
  const int64_t place = bit ? bits_[j][*bit ? 1 : 0] : -1;
  return place >= 0 ? place : std::ssize(levels);
}

double RowEncoder::number_of(size_t j, std::string_view cell) const {
  const Encoder::Feature& feature = features_[j];
  if (feature.kind != ColumnKind::categorical) return cell_number(feature, cell, missing_, notation_);
  cell = trimmed(cell);
  if (is_missing(cell) || is_mark(cell, missing_, notation_)) return kMissing;
  return static_cast<double>(level_of(j, cell));
}

void RowEncoder::read(std::span<const std::string_view> cells, std::span<double> out) const {
  for (size_t j = 0; j < features_.size(); ++j) out[j] = number_of(j, cells[j]);
}

/// As Encoder::inputs: one feature a level, one for all others where the column has it, and the indicator.
void RowEncoder::encode_category(size_t j, double index, float*& out) const {
  const Encoder::Feature& feature = features_[j];
  const auto levels = std::ssize(feature.levels);
  const int64_t width = levels + (feature.other ? 1 : 0);
  std::fill_n(out, width, 0.0F);
  const bool missing = std::isnan(index);
  if (!missing) {
    if (!(index >= 0 && index <= static_cast<double>(levels) && index == std::floor(index)))
      refuse(kFunction,
             fmt::format("the index of one of {} levels in column {}", levels, in_quotes(names_[j])),
             fmt::format("{}", index), "give the category as text");
    const auto slot = static_cast<int64_t>(index);
    if (slot < width) out[slot] = 1;
  }
  out += width;
  encode_missing(feature, missing, out);
}

void RowEncoder::encode(std::span<const double> numbers, std::span<float> out) const {
  if (numbers.size() != features_.size())
    refuse(kFunction, fmt::format("{} cells", features_.size()), std::to_string(numbers.size()),
           "columns() names them");
  float* to = out.data();
  for (size_t j = 0; j < numbers.size(); ++j) {
    if (std::isinf(numbers[j]))
      refuse(kFunction, fmt::format("a finite number in column {}", in_quotes(names_[j])), "infinity");
    if (!features_[j].levels.empty())
      encode_category(j, numbers[j], to);
    else if (!encode_number(features_[j], numbers[j], to))
      refuse(kFunction,
             fmt::format("a number within {:g} half-ranges or sds of the training rows in column {}",
                         Encoder::kFarthest, in_quotes(names_[j])),
             fmt::format("{}", numbers[j]));
  }
}

RowDistance RowEncoder::distance(std::span<const double> numbers) const {
  if (numbers.size() != features_.size())
    refuse(kFunction, fmt::format("{} cells", features_.size()), std::to_string(numbers.size()),
           "columns() names them");
  RowDistance row;
  DistanceSum sum;
  for (size_t j = 0; j < features_.size(); ++j) {
    const Encoder::Feature& feature = features_[j];
    if (!feature.range) continue;
    sum.add(numbers[j], feature);
    if (!std::isnan(numbers[j])) row.beyond = std::max(row.beyond, half_ranges_beyond(numbers[j], feature));
  }
  row.distance = sum.root_mean_square();
  if (std::isnan(row.distance)) row.beyond = row.distance;
  return row;
}

}  // namespace slimbayes
