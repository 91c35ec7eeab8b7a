// Fits an encoder to the training rows: it finds scales and levels, and decides which columns to drop. Each
// column is fitted by itself (feature_fit.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/feature_fit.h"
#include "slimbayes/encoding/notes/column_note.h"
#include "slimbayes/encoding/notes/column_notes.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_options(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options) {
  constexpr std::string_view fn = "Encoder::fit";
  if (options.scale != "min-max" && options.scale != "standard")
    refuse(fn, "a scale 'min-max' or 'standard'", in_quotes(options.scale));
  if (options.scale_on != "train" && options.scale_on != "all")
    refuse(fn, "scales from the rows 'train' or 'all'", in_quotes(options.scale_on));
  if (!options.target.empty() && !table.find(options.target))
    refuse(fn, "a target that is a column", in_quotes(options.target),
           nearest_hint(options.target, table.names()));
  for (const std::string& name : options.ignore) {
    if (!table.find(name))
      refuse(fn, "columns of the table to ignore", in_quotes(name), nearest_hint(name, table.names()));
    if (name == options.target) refuse(fn, "a target that is not ignored", in_quotes(name));
  }
  check(!rows.empty(), fn, "at least one training row", "none");
  if (!options.weights.empty() && std::ssize(options.weights) != table.rows)
    refuse(fn, fmt::format("a weight for each of the {} rows", table.rows),
           fmt::format("{}", options.weights.size()));
  for (int64_t row : rows) {
    if (row < 0 || row >= table.rows)
      refuse(fn, fmt::format("rows below {}", table.rows), std::to_string(row));
  }
}

bool is_constant(const Column& column, const std::vector<int64_t>& rows) {
  const auto value = [&](int64_t row) { return column.values[static_cast<size_t>(row)]; };
  return std::ranges::all_of(rows, [&](int64_t row) { return value(row) == value(rows.front()); });
}

/// Returns a note for each scaled input that looks like row numbers. Returns none if the table has only one
/// input, because the advice of the note, to leave the column out, would leave no input.
std::vector<ColumnNote> row_number_notes(const Table& table, const std::vector<Encoder::Feature>& features) {
  std::vector<ColumnNote> notes;
  if (std::ranges::count_if(features, [](const Encoder::Feature& f) { return f.width() > 0; }) < 2)
    return notes;
  for (const Encoder::Feature& feature : features) {
    if (feature.scaled)
      notes.push_back({ColumnNoteKind::odd, feature.name, row_number_note(*table.find(feature.name)),
                       "look like numbers of the rows and are inputs; `.ignore` leaves them out"});
  }
  return notes;
}

std::vector<std::string> target_notes(const Table& table, const std::vector<int64_t>& rows, const Task& task,
                                      const EncoderOptions& options) {
  const std::string whole = "the target " + in_quotes(options.target);
  if (task.kind == TaskKind::classification)
    return category_notes(task.levels, holds(options.names, options.target), whole);
  const Column& target = *table.find(options.target);
  return {range_note(table, target, rows, whole), rounded_note(target, whole, kRoundedAlike),
          grouped_note(target, whole)};
}

}  // namespace

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

void Encoder::fit_columns(const Table& table, const std::vector<int64_t>& rows, const TableStatistics* all) {
  if (options_.scale_on == "all")
    notes_.push_back("numeric inputs are scaled by the range of every row, held-out rows too (scale-on all)");
  FeatureFit fitting(table, rows, options_, all);
  std::vector<std::string> not_inputs = options_.ignore, numbering;
  not_inputs.push_back(options_.target);
  if (!options_.target.empty() && all == nullptr) numbering = numbering_columns(table, not_inputs);
  for (const Column& column : table.columns) {
    if (column.name == options_.target || holds(options_.ignore, column.name)) continue;
    const bool numbers = all != nullptr ? all->at(column.name).numbering : holds(numbering, column.name);
    Feature feature = fitting.fit(column, numbers);
    for (std::string& name : feature_names(feature)) schema_.features.push_back(std::move(name));
    features_.push_back(std::move(feature));
  }
  std::vector<ColumnNote> notes = fitting.notes();
  std::ranges::copy(row_number_notes(table, features_), std::back_inserter(notes));
  std::ranges::copy(gathered(notes), std::back_inserter(notes_));
  std::erase(notes_, "");
  if (schema_.features.empty()) {
    refuse("Encoder::fit", "at least one input that varies over the training rows",
           notes_.empty() ? "no column beside the target" : "none: " + notes_.back(),
           "give more columns or rows; a column of text is an input by `.text`");
  }
}

Encoder Encoder::fit_inputs(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options) {
  if (!options.target.empty() || options.likelihood)
    refuse("Encoder::fit_inputs", "no target", in_quotes(options.target));
  check_options(table, rows, options);
  Encoder encoder;
  encoder.options_ = options;
  encoder.fit_columns(table, rows);
  encoder.options_.weights = {};
  return encoder;
}

Encoder Encoder::fit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options,
                     const TableStatistics* all, const std::vector<int64_t>* input_rows) {
  check_options(table, rows, options);
  if (input_rows != nullptr) check_options(table, *input_rows, options);
  if (options.likelihood == LikelihoodKind::cox) return fit_events(table, rows, options);
  check(options.domain.empty(), "Encoder::fit", "a domain for `.likelihood=cox` alone", "one for another",
        "leave `.domain` out");
  check(!options.target.empty(), "Encoder::fit", "a target that is a column", "none");
  Encoder encoder;
  encoder.options_ = options;
  encoder.schema_.task =
      fit_task(table, rows,
               {options.target, options.likelihood, options.target_scale, options.weights, options.bounds},
               all != nullptr ? &all->at(options.target) : nullptr);
  encoder.target_kind_ = table.find(options.target)->kind;
  const auto same = [&] {
    if (all == nullptr) return is_constant(*table.find(options.target), rows);
    return all->at(options.target).low == all->at(options.target).high;
  };
  if (encoder.schema_.task.kind == TaskKind::regression && same())
    encoder.notes_.push_back(
        fmt::format("the target {} is the same in every training row: there is nothing to learn, and the "
                    "predicted sd and intervals mean nothing",
                    in_quotes(options.target)));
  std::ranges::copy(target_notes(table, rows, encoder.schema_.task, options),
                    std::back_inserter(encoder.notes_));
  if (!options.likelihood && encoder.schema_.task.kind == TaskKind::regression)
    encoder.notes_.push_back(likelihood_hint(table, options.target, rows));
  encoder.fit_columns(table, input_rows != nullptr ? *input_rows : rows, all);
  encoder.options_.weights = {};
  return encoder;
}

}  // namespace slimbayes
