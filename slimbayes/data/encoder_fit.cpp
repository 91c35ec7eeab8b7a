// What an encoder learns from the training rows: scales, levels, and which columns to drop. One pass per
// column.
//
// Scales are computed from u = (x - middle) / half_range in [-1, 1], so that squares of values such as 1e300
// or 1e-300 neither overflow nor underflow. The sd is the population's (divided by n), as in the papers'
// code.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/column_note.h"
#include "slimbayes/data/column_notes.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/target.h"

namespace slimbayes {
namespace {

constexpr size_t kMaxLevels = 64;
constexpr const char* kRoundedAlike =
    "different ones may become equal; subtract a number in the table to keep their differences";

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_options(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options) {
  constexpr std::string_view fn = "Encoder::fit";
  check(options.scale == "min-max" || options.scale == "standard", fn, "a scale 'min-max' or 'standard'",
        in_quotes(options.scale));
  check(options.scale_on == "train" || options.scale_on == "all", fn, "scales from the rows 'train' or 'all'",
        in_quotes(options.scale_on));
  if (!options.target.empty())
    check(table.find(options.target), fn, "a target that is a column", in_quotes(options.target),
          nearest_hint(options.target, table.names()));
  for (const std::string& name : options.ignore) {
    check(table.find(name), fn, "columns of the table to ignore", in_quotes(name),
          nearest_hint(name, table.names()));
    check(name != options.target, fn, "a target that is not ignored", in_quotes(name));
  }
  check(!rows.empty(), fn, "at least one training row", "none");
  for (int64_t row : rows) {
    if (row < 0 || row >= table.rows)
      check(false, fn, fmt::format("rows below {}", table.rows), std::to_string(row));
  }
}

/// Returns the values at these rows without the missing ones.
std::vector<double> present_values(const Column& column, const std::vector<int64_t>& rows) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (int64_t row : rows) {
    double value = column.values[static_cast<size_t>(row)];
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

bool is_constant(const Column& column, const std::vector<int64_t>& rows) {
  const auto value = [&](int64_t row) { return column.values[static_cast<size_t>(row)]; };
  return std::ranges::all_of(rows, [&](int64_t row) { return value(row) == value(rows.front()); });
}

using ColumnNotes = std::vector<ColumnNote>;

/// Fits the levels to keep, sorted. Returns false for free text, which is dropped. `declared`: the user
/// declared the column to be names.
bool fit_levels(const Column& column, const std::vector<double>& values, bool declared,
                Encoder::Feature& feature, ColumnNotes& notes) {
  std::vector<int64_t> count(column.levels.size());
  for (double value : values) ++count[static_cast<size_t>(value)];
  std::vector<size_t> seen;
  std::vector<std::string> levels;
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] > 0) seen.push_back(i), levels.push_back(column.levels[i]);
  }
  for (std::string& note : category_notes(levels, declared, "column " + in_quotes(column.name)))
    notes.push_back({ColumnNoteKind::odd, column.name, std::move(note)});
  if (is_free_text(values.size(), seen.size())) {
    notes.push_back(
        {ColumnNoteKind::dropped, column.name,
         fmt::format("column {}: {} of {} training cells differ, as in an identifier or free text: dropped",
                     in_quotes(column.name), seen.size(), values.size()),
         "have other cells in almost every training row, as an identifier or free text has: dropped"});
    feature.dropped = "identifier or free text";
    return false;
  }
  if (seen.size() > kMaxLevels) {
    std::sort(seen.begin(), seen.end(), [&](size_t a, size_t b) {
      return count[a] != count[b] ? count[a] > count[b] : column.levels[a] < column.levels[b];
    });
    notes.push_back(
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
  feature.dropped = "constant";
  return true;
}

/// Fits the scale of a numeric column. `values` are those of the training rows; `ranged` are those that give
/// shift and scale.
void fit_scale(const std::vector<double>& values, const std::vector<double>& ranged, bool standard,
               Encoder::Feature& feature) {
  Moments m = moments(ranged);
  feature.fill = moments(values).mean;
  feature.shift = standard ? m.mean : m.middle;
  double scale = standard ? m.sd : m.half_range;
  feature.scaled = scale > 0;
  if (feature.scaled) {
    const auto [low, high] = std::ranges::minmax(values);
    feature.scale = scale;
    feature.range = {low, high, moments(values).sd};
  } else {
    feature.dropped = "constant";
  }
}

/// Adds the notes on the numbers or times of a column that is an input.
void add_number_notes(const Table& table, const Column& column, const std::vector<int64_t>& ranged,
                      bool constant_once_rounded, ColumnNotes& notes) {
  const std::string name = in_quotes(column.name), whole = "column " + name;
  notes.push_back(
      {ColumnNoteKind::odd, column.name,
       rounded_note(column, whole,
                    fmt::format("{}, or take them as names by --categorical {}",
                                constant_once_rounded ? "all training cells become one number: dropped; "
                                                        "subtract a number in the table"
                                                      : kRoundedAlike,
                                name))});
  notes.push_back(
      {ColumnNoteKind::odd, column.name, range_note(table, column, ranged, whole),
       "have a few cells that stretch their range more than tenfold, so that the others become hard to tell "
       "apart: leave them empty if missing is meant (--na names such numbers, of every column), or remove "
       "their rows",
       stretching_cells(table, column, ranged)});
  notes.push_back({ColumnNoteKind::odd, column.name, padded_note(column),
                   "hold numbers with leading zeros, which are read as numbers; --categorical takes them as "
                   "names"});
  notes.push_back({ColumnNoteKind::odd, column.name, mixed_offsets_note(column)});
}

/// Adds the note on `missing` of the training cells. Rows that --fill-gaps inserted do not count.
void add_missing_note(const Encoder::Feature& feature, size_t rows, size_t missing,
                      const EncoderOptions& options, ColumnNotes& notes) {
  auto inserted = static_cast<size_t>(options.carried.value_or(0));
  if (missing == 0 || missing == inserted) return;
  if (missing < inserted) inserted = 0;  // a column of groups, which inserted rows have
  const char* replaced = options.carried  ? "carried forward from the last known one"
                         : feature.scaled ? "imputed with the mean"
                                          : "encoded as zeros";
  const size_t cells = rows - inserted;
  notes.push_back(
      {ColumnNoteKind::imputed, feature.name,
       fmt::format("column {}: {} of {} training cells are missing: {}, with an indicator",
                   in_quotes(feature.name), missing - inserted, cells, replaced),
       fmt::format("lack some of the {} training cells: {}, each with an indicator", cells, replaced),
       std::to_string(missing - inserted)});
}

/// Fits one column. `ranged` are the rows that give a numeric column's shift and scale.
Encoder::Feature fit_feature(const Table& table, const Column& column, const std::vector<int64_t>& rows,
                             const std::vector<int64_t>& ranged, const EncoderOptions& options,
                             ColumnNotes& notes) {
  Encoder::Feature feature;
  feature.name = column.name;
  feature.kind = column.kind;
  if (column.kind == ColumnKind::datetime) feature.offsets = column.offsets;
  const bool declared = holds(options.names, column.name);
  if (is_row_label(column.name) && !declared) {
    feature.dropped = "row labels";
    notes.push_back({ColumnNoteKind::dropped, column.name, row_label_note(column)});
    return feature;
  }
  std::vector<double> values = present_values(column, rows);
  if (values.empty()) {
    feature.dropped = "no value";
    notes.push_back(
        {ColumnNoteKind::dropped, column.name,
         fmt::format("column {} holds no value in the training rows: dropped", in_quotes(column.name)),
         "hold no value in the training rows: dropped"});
    return feature;
  }
  if (column.kind == ColumnKind::categorical) {
    if (!fit_levels(column, values, declared, feature, notes)) return feature;
  } else {
    for (int64_t row : ranged) {
      if (!std::isinf(column.values[static_cast<size_t>(row)])) continue;
      throw_bad_cell(
          table, row,
          fmt::format("expected finite numbers in column {}; received an infinite one; remove the row",
                      in_quotes(column.name)));
    }
    fit_scale(values, present_values(column, ranged), options.scale == "standard", feature);
    const bool alike = !feature.scaled && !column.large.empty();
    if (alike) feature.dropped = "constant once rounded";
    add_number_notes(table, column, ranged, alike, notes);
  }
  if (feature.dropped == "constant")
    notes.push_back(
        {ColumnNoteKind::dropped, column.name,
         fmt::format("column {} is constant on the training rows: dropped", in_quotes(column.name)),
         "are constant on the training rows: dropped"});
  // A constant column gets the indicator too: whether a cell is present may be informative.
  feature.indicator = values.size() < rows.size();
  add_missing_note(feature, rows.size(), rows.size() - values.size(), options, notes);
  return feature;
}

/// Returns a note for each scaled input that looks like row numbers. Returns none if there is only one input,
/// since it cannot be left out.
ColumnNotes row_number_notes(const Table& table, const std::vector<Encoder::Feature>& features) {
  ColumnNotes notes;
  if (std::ranges::count_if(features, [](const Encoder::Feature& f) { return f.width() > 0; }) < 2)
    return notes;
  for (const Encoder::Feature& feature : features) {
    if (feature.scaled)
      notes.push_back({ColumnNoteKind::odd, feature.name, row_number_note(*table.find(feature.name)),
                       "look like numbers of the rows and are inputs; --ignore leaves them out"});
  }
  return notes;
}

std::vector<std::string> target_notes(const Table& table, const std::vector<int64_t>& rows, const Task& task,
                                      const EncoderOptions& options) {
  const std::string whole = "the target " + in_quotes(options.target);
  if (task.kind == TaskKind::classification)
    return category_notes(task.levels, holds(options.names, options.target), whole);
  const Column& target = *table.find(options.target);
  return {range_note(table, target, rows, whole), rounded_note(target, whole, kRoundedAlike)};
}

}  // namespace

bool is_free_text(size_t cells, size_t different) {
  constexpr size_t kFewCells = 50;
  constexpr double kShare = 0.9;
  return cells > kFewCells && static_cast<double>(different) > kShare * static_cast<double>(cells);
}

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  Moments m{*low, 0, *low, *high / 2 - *low / 2};
  if (!(m.half_range > 0)) return {m.mean, 0, m.middle, 0};
  m.middle = *low / 2 + *high / 2;
  double n = static_cast<double>(values.size()), mean = 0, square = 0;
  for (double value : values) mean += (value - m.middle) / m.half_range / n;
  for (double value : values) {
    double u = (value - m.middle) / m.half_range - mean;
    square += u * u;
  }
  m.mean = m.middle + m.half_range * mean;
  m.sd = m.half_range * std::sqrt(square / n);
  return m;
}

int64_t Encoder::Feature::width() const {
  return static_cast<int64_t>(levels.size()) + (scaled ? 1 : 0) + (other ? 1 : 0) + (indicator ? 1 : 0);
}

std::vector<std::string> feature_names(const Encoder::Feature& feature) {
  std::vector<std::string> names;
  if (feature.scaled) names.push_back(feature.name);
  for (const std::string& level : feature.levels) names.push_back(feature.name + " = " + level);
  if (feature.other) names.push_back(feature.name + " (other)");
  if (feature.indicator) names.push_back(feature.name + " (missing)");
  return names;
}

// The fit sees n training events of N. A random share of a Poisson process is a Poisson process with that
// share of its intensity, so the intensity of all events is N / n times as high. A unit volume of the encoded
// coordinates is V / 2^d in the user's units, where V is the volume of the domain. y_shift is the log of both
// factors.
Encoder Encoder::fit_events(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options) {
  check(options.target.empty(), "Encoder::fit", "no target for --likelihood cox, whose rows are events",
        in_quotes(options.target), "leave --target out");
  Encoder encoder;
  encoder.options_ = options;
  for (const Column& column : table.columns) {
    if (holds(options.ignore, column.name)) continue;
    if (is_row_label(column.name)) {
      encoder.notes_.push_back(row_label_note(column));
      continue;
    }
    check(column.kind == ColumnKind::numeric, "Encoder::fit", "coordinates that are numbers",
          fmt::format("the {} column {}", kind_name(column.kind), in_quotes(column.name)),
          "name it in --ignore");
    encoder.schema_.features.push_back(column.name);
  }
  size_t d = encoder.schema_.features.size();
  check(d > 0 && d == options.domain.size(), "Encoder::fit",
        fmt::format("a domain of {} axes, one a coordinate", d), fmt::format("{}", options.domain.size()),
        "--domain 0:1,0:2 gives two; --ignore leaves columns out");
  for (size_t i = 0; i < d; ++i) {
    const Axis& axis = options.domain[i];
    Feature feature;
    feature.name = encoder.schema_.features[i];
    feature.scaled = true;
    feature.shift = feature.fill = axis.low / 2 + axis.high / 2;
    feature.scale = axis.high / 2 - axis.low / 2;
    const Column& column = *table.find(feature.name);
    check_inside(table, column, axis);
    encoder.notes_.push_back(rounded_note(column, "column " + in_quotes(column.name), kRoundedAlike));
    encoder.features_.push_back(std::move(feature));
  }
  std::erase(encoder.notes_, "");
  Task& task = encoder.schema_.task;
  task.kind = TaskKind::events;
  task.likelihood = LikelihoodKind::cox;
  double share = static_cast<double>(rows.size()) / static_cast<double>(table.rows);
  task.y_shift = static_cast<double>(d) * std::log(2.0) - std::log(volume(options.domain)) - std::log(share);
  return encoder;
}

void Encoder::fit_columns(const Table& table, const std::vector<int64_t>& rows) {
  std::vector<int64_t> ranged = rows;
  if (options_.scale_on == "all") {
    ranged.resize(static_cast<size_t>(table.rows));
    std::iota(ranged.begin(), ranged.end(), 0);
    notes_.push_back("numeric inputs are scaled by the range of every row, held-out rows too (scale-on all)");
  }
  ColumnNotes notes;
  for (const Column& column : table.columns) {
    if (column.name == options_.target || holds(options_.ignore, column.name)) continue;
    Feature feature = fit_feature(table, column, rows, ranged, options_, notes);
    for (std::string& name : feature_names(feature)) schema_.features.push_back(std::move(name));
    features_.push_back(std::move(feature));
  }
  std::ranges::copy(row_number_notes(table, features_), std::back_inserter(notes));
  std::ranges::copy(gathered(notes), std::back_inserter(notes_));
  std::erase(notes_, "");
  if (schema_.features.empty()) {
    check(false, "Encoder::fit", "at least one input that varies over the training rows",
          notes_.empty() ? "no column beside the target" : notes_.back(),
          "give more columns or rows; a column of text is an input by --text");
  }
}

Encoder Encoder::fit_inputs(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options) {
  check(options.target.empty() && !options.likelihood, "Encoder::fit_inputs", "no target",
        in_quotes(options.target));
  check_options(table, rows, options);
  Encoder encoder;
  encoder.options_ = options;
  encoder.fit_columns(table, rows);
  return encoder;
}

Encoder Encoder::fit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options) {
  check_options(table, rows, options);
  if (options.likelihood == LikelihoodKind::cox) return fit_events(table, rows, options);
  check(options.domain.empty(), "Encoder::fit", "a domain for --likelihood cox alone", "one for another",
        "leave --domain out");
  check(!options.target.empty(), "Encoder::fit", "a target that is a column", "none");
  Encoder encoder;
  encoder.options_ = options;
  encoder.schema_.task = fit_task(table, rows, options.target, options.likelihood, options.target_scale);
  encoder.target_kind_ = table.find(options.target)->kind;
  if (encoder.schema_.task.kind == TaskKind::regression && is_constant(*table.find(options.target), rows))
    encoder.notes_.push_back(
        fmt::format("the target {} is the same in every training row: there is nothing to learn, and the "
                    "predicted sd and intervals mean nothing",
                    in_quotes(options.target)));
  std::ranges::copy(target_notes(table, rows, encoder.schema_.task, options),
                    std::back_inserter(encoder.notes_));
  if (!options.likelihood && encoder.schema_.task.kind == TaskKind::regression)
    encoder.notes_.push_back(likelihood_hint(table, options.target, rows));
  encoder.fit_columns(table, rows);
  return encoder;
}

}  // namespace slimbayes
