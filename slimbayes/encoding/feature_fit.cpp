// Decides what the encoder does with a column: scale it, give each of its levels a feature, or drop it.
#include "slimbayes/encoding/feature_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"
#include "slimbayes/encoding/moments.h"
#include "slimbayes/encoding/notes/column_notes.h"

namespace slimbayes {
namespace {

constexpr size_t kMaxLevels = 64;

void check_finite_cells(const Table& table, const Column& column, const std::vector<int64_t>& rows) {
  for (int64_t row : rows) {
    if (!std::isinf(column.values[static_cast<size_t>(row)])) continue;
    throw_bad_cell(
        table, row,
        fmt::format("expected finite numbers in column {}; received an infinite one; remove the row",
                    in_quotes(column.name)));
  }
}

}  // namespace

int64_t most_features(const Table& table) {
  size_t features = 0;
  for (const Column& column : table.columns)
    features += column.kind == ColumnKind::categorical ? std::min(column.levels.size(), kMaxLevels) : 1;
  return static_cast<int64_t>(features);
}

bool is_free_text(size_t cells, size_t different) {
  constexpr size_t kFewCells = 50;
  constexpr double kShare = 0.9;
  return cells > kFewCells && static_cast<double>(different) > kShare * static_cast<double>(cells);
}

FeatureFit::FeatureFit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options,
                       const TableStatistics* all)
    : table_(table), rows_(rows), options_(options), all_(all), ranged_(rows) {
  if (options.scale_on != "all") return;
  ranged_.resize(static_cast<size_t>(table.rows));
  std::iota(ranged_.begin(), ranged_.end(), 0);
}

/// Returns the statistics of the cells in these rows, or those that are known of all of them.
ColumnStatistics FeatureFit::statistics_of(const Column& column, const std::vector<int64_t>& rows) const {
  return all_ != nullptr ? all_->at(column.name) : column_statistics(column, rows, options_.weights);
}

Encoder::Feature FeatureFit::fit(const Column& column, bool numbers) {
  Encoder::Feature feature;
  feature.name = column.name;
  feature.kind = column.kind;
  if (column.kind == ColumnKind::datetime) feature.offsets = column.offsets;
  if (numbers || (is_row_label(column.name) && !is_declared(column))) {
    feature.dropped = Encoder::Dropped::row_labels;
    notes_.push_back({ColumnNoteKind::dropped, column.name, row_label_note(column)});
    return feature;
  }
  const ColumnStatistics own = statistics_of(column, rows_);
  if (own.present == 0) {
    feature.dropped = Encoder::Dropped::no_value;
    notes_.push_back(
        {ColumnNoteKind::dropped, column.name,
         fmt::format("column {} holds no value in the training rows: dropped", in_quotes(column.name)),
         "hold no value in the training rows: dropped"});
    return feature;
  }
  if (column.kind == ColumnKind::categorical) {
    if (!fit_levels(column, own, feature)) return feature;
  } else {
    check_finite_cells(table_, column, ranged_);
    fit_scale(column, own, feature);
    const bool alike = !feature.scaled && !column.large.empty();
    if (alike) feature.dropped = Encoder::Dropped::constant_once_rounded;
    add_number_notes(column, alike);
  }
  if (feature.dropped == Encoder::Dropped::constant)
    notes_.push_back(
        {ColumnNoteKind::dropped, column.name,
         fmt::format("column {} is constant on the training rows: dropped", in_quotes(column.name)),
         "are constant on the training rows: dropped"});
  // A constant column gets the indicator too: whether a cell is present may be informative.
  feature.indicator = own.present < own.rows;
  add_missing_note(feature, own);
  return feature;
}

bool FeatureFit::is_declared(const Column& column) const {
  return std::ranges::find(options_.names, column.name) != options_.names.end();
}

/// Sets the levels that get a feature each, sorted. Returns false if the column is free text, which gives no
/// feature.
bool FeatureFit::fit_levels(const Column& column, const ColumnStatistics& own, Encoder::Feature& feature) {
  const std::vector<int64_t>& count = own.counts;
  add_category_notes(column, count);
  std::vector<size_t> seen;
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] > 0) seen.push_back(i);
  }
  if (own.free_text || is_free_text(static_cast<size_t>(own.present), seen.size())) {
    notes_.push_back(
        {ColumnNoteKind::dropped, column.name,
         own.free_text
             ? fmt::format("column {}: almost all cells differ, as in an identifier or free text: dropped",
                           in_quotes(column.name))
             : fmt::format("column {}: {} of {} training cells differ, as in an identifier or free "
                           "text: dropped",
                           in_quotes(column.name), seen.size(), own.present),
         "have other cells in almost every training row, as an identifier or free text has: dropped"});
    feature.dropped = Encoder::Dropped::free_text;
    return false;
  }
  if (seen.size() > kMaxLevels && !is_declared(column) && meant_as(column.levels, 0.5).as == "dates") {
    notes_.push_back({ColumnNoteKind::dropped, column.name,
                      fmt::format("column {}: {} different dates in a notation that is not read: dropped",
                                  in_quotes(column.name), seen.size()),
                      "have dates in a notation that is not read: dropped"});
    feature.dropped = Encoder::Dropped::unread_dates;
    return false;
  }
  if (seen.size() > kMaxLevels) {
    const auto frequency = [&](size_t i) {
      return own.weights.empty() ? static_cast<double>(count[i]) : own.weights[i];
    };
    std::sort(seen.begin(), seen.end(), [&](size_t a, size_t b) {
      return frequency(a) != frequency(b) ? frequency(a) > frequency(b) : column.levels[a] < column.levels[b];
    });
    notes_.push_back(
        {ColumnNoteKind::odd, column.name,
         fmt::format(
             "column {}: of {} categories the {} most frequent have a feature each, the others share one",
             in_quotes(column.name), seen.size(), kMaxLevels - 1),
         fmt::format("have more than {} categories: the {} most frequent have a feature each, the others of "
                     "a column share one",
                     kMaxLevels, kMaxLevels - 1),
         std::to_string(seen.size())});
    seen.resize(kMaxLevels - 1);
    feature.other = true;
  }
  for (size_t i : seen) feature.levels.push_back(column.levels[i]);
  std::sort(feature.levels.begin(), feature.levels.end());
  if (feature.levels.size() > 1) return true;
  feature.levels.clear();
  feature.dropped = Encoder::Dropped::constant;
  return true;
}

/// Adds notes on categories that look odd. count[i] is the number of training cells with the level i of the
/// column; levels that do not occur get no notes.
void FeatureFit::add_category_notes(const Column& column, const std::vector<int64_t>& count) {
  std::vector<std::string> levels;
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] > 0) levels.push_back(column.levels[i]);
  }
  for (std::string& note : category_notes(levels, is_declared(column), "column " + in_quotes(column.name)))
    notes_.push_back({ColumnNoteKind::odd, column.name, std::move(note)});
}

/// Sets the shift, scale, imputed value and range of a column of numbers, booleans or times.
void FeatureFit::fit_scale(const Column& column, const ColumnStatistics& own,
                           Encoder::Feature& feature) const {
  const bool standard = options_.scale == "standard";
  const Moments m = statistics_of(column, ranged_).moments;
  feature.fill = own.moments.mean;
  feature.shift = standard ? m.mean : m.middle;
  double scale = standard ? m.sd : m.half_range;
  feature.scaled = scale > 0;
  if (feature.scaled) {
    feature.scale = scale;
    feature.range = {own.low, own.high, own.moments.sd};
  } else {
    feature.dropped = Encoder::Dropped::constant;
  }
}

/// Adds notes on odd numbers or times in a column. `constant_once_rounded` says that the column is dropped
/// because its integers beyond 2^53 all became the same double.
void FeatureFit::add_number_notes(const Column& column, bool constant_once_rounded) {
  const std::string name = in_quotes(column.name), whole = "column " + name;
  const char* consequence = constant_once_rounded ? "all training cells become one number: dropped; subtract "
                                                    "a number in the table"
                                                  : kRoundedAlike;
  notes_.push_back(
      {ColumnNoteKind::odd, column.name,
       rounded_note(column, whole,
                    fmt::format("{}, or take them as names by `.categorical` {}", consequence, name))});
  const size_t stretched = notes_.size();
  notes_.push_back(
      {ColumnNoteKind::odd, column.name, range_note(table_, column, ranged_, whole),
       "have a few cells that stretch their range more than tenfold, so that the others become hard to tell "
       "apart: leave them empty if missing is meant (`.na` names such numbers, of every column), or remove "
       "their rows",
       stretching_cells(table_, column, ranged_)});
  notes_.push_back(
      {ColumnNoteKind::odd, column.name, padded_note(column),
       "hold numbers with leading zeros, which are read as numbers; `.categorical` takes them as "
       "names"});
  notes_.push_back(
      {ColumnNoteKind::odd, column.name, grouped_note(column, whole),
       "have numbers with a point that all have three digits behind it, as where points separate "
       "thousands; if these are, in a text file, fit `.thousands=.` `.decimal=,` reads them so",
       column.grouped});
  if (notes_[stretched].sentence.empty())
    notes_.push_back(
        {ColumnNoteKind::odd, column.name, code_note(column, rows_),
         "hold whole numbers that look like codes, taken as amounts; `.categorical` takes them as names"});
  notes_.push_back({ColumnNoteKind::odd, column.name, mixed_offsets_note(column)});
}

/// Adds a note if training cells are missing. Cells of rows that fill_gaps inserted are not counted.
void FeatureFit::add_missing_note(const Encoder::Feature& feature, const ColumnStatistics& own) {
  const auto missing = static_cast<size_t>(own.rows - own.present);
  auto inserted = static_cast<size_t>(options_.carried.value_or(0));
  if (missing == 0 || missing == inserted) return;
  if (missing < inserted) inserted = 0;  // group column: present in inserted rows
  const char* replaced = options_.carried ? "carried forward from the last known one"
                         : feature.scaled ? "imputed with the mean"
                                          : "encoded as zeros";
  const size_t cells = static_cast<size_t>(own.rows) - inserted;
  notes_.push_back(
      {ColumnNoteKind::imputed, feature.name,
       fmt::format("column {}: {} of {} training cells are missing: {}, with an indicator",
                   in_quotes(feature.name), missing - inserted, cells, replaced),
       fmt::format("lack some of the {} training cells: {}, each with an indicator", cells, replaced),
       std::to_string(missing - inserted)});
}

}  // namespace slimbayes
