// Encodes a table as a matrix, with the scales and levels that encoder_fit.cpp found.
//
// Rows are encoded in blocks that stay in the cache, column by column within a block: O(n d), without
// temporary copies.
//
// A caller may have read the table without Encoder::reading(). A column of categories may then have another
// kind than in training: if all its cells in a few rows are "yes", or 3, they are read as booleans or
// numbers. Such a value is matched to the training level that reads as the same value. Columns of yes and no
// are first brought to the kind that they had in training.
#include "slimbayes/encoding/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/bits.h"
#include "slimbayes/encoding/domain.h"
#include "slimbayes/encoding/feature_cell.h"
#include "slimbayes/encoding/notes/column_note.h"
#include "slimbayes/encoding/notes/column_notes.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {
namespace {

constexpr int64_t kBlock = 512;

/// One column of a table, how it is encoded, and where its values go in an encoded row.
struct Reader {
  const Encoder::Feature* feature;
  const Column* column;
  int64_t offset;             // index of the column's first value in an encoded row
  std::vector<int64_t> slot;  // slot[i]: what level_slot gives for level i of the column
};

bool all_missing(const Column& column) {
  return std::all_of(column.values.begin(), column.values.end(), [](double x) { return std::isnan(x); });
}

/// Returns the index of a cell's category among the features of its column. This is its index in
/// Feature::levels, or, for a category that is not in `levels`, the index behind the last level, which is the
/// feature "other". Returns -1, which means all zeros, if there is no feature "other".
int64_t level_slot(const Reader& reader, double value) {
  const std::vector<std::string>& levels = reader.feature->levels;
  if (!reader.slot.empty()) return reader.slot[static_cast<size_t>(value)];
  int64_t found = level_like(levels, reader.column->kind, value);
  return found < 0 && reader.feature->other ? static_cast<int64_t>(levels.size()) : found;
}

std::vector<int64_t> slots_of(const Encoder::Feature& feature, const Column& column) {
  std::vector<int64_t> slots;
  for (const std::string& level : column.levels) {
    auto at = std::lower_bound(feature.levels.begin(), feature.levels.end(), level);
    bool known = at != feature.levels.end() && *at == level;
    int64_t none = feature.other ? static_cast<int64_t>(feature.levels.size()) : -1;
    slots.push_back(known ? at - feature.levels.begin() : none);
  }
  return slots;
}

/// Returns the feature's column; nullptr if the table has none. Columns mostly come in the order of training,
/// so the search starts at `hint`, behind the last one found.
const Column* find_column(const Encoder::Feature& feature, const Table& table, size_t& hint) {
  const size_t n = table.columns.size();
  for (size_t step = 0; step < n; ++step) {
    const size_t at = (hint + step) % n;
    if (table.columns[at].name != feature.name) continue;
    hint = at + 1;
    return &table.columns[at];
  }
  return nullptr;
}

const Column& column_of(const Encoder::Feature& feature, const Table& table, size_t& hint) {
  const Column* found = find_column(feature, table, hint);
  if (found == nullptr)
    refuse("Encoder::inputs", fmt::format("a column {} as in training", in_quotes(feature.name)),
           fmt::format("{} other columns", table.columns.size()),
           fmt::format("{}; `.rename` gives a column its name, `.fill` gives all rows a value",
                       nearest_hint(feature.name, table.names())));
  return *found;
}

std::vector<Reader> readers_of(const std::vector<Encoder::Feature>& features, const Table& table) {
  std::vector<Reader> readers;
  readers.reserve(features.size());
  size_t hint = 0;
  int64_t offset = 0;
  for (const Encoder::Feature& feature : features) {
    if (feature.width() == 0) continue;
    const Column& column = column_of(feature, table, hint);
    if (column.kind != feature.kind && feature.kind != ColumnKind::categorical && !all_missing(column)) {
      refuse("Encoder::inputs",
             fmt::format("a {} column {} as in training", kind_name(feature.kind), in_quotes(feature.name)),
             fmt::format("a {} one{}", kind_name(column.kind),
                         column.levels.empty() ? "" : fmt::format(" ({}, ...)", in_quotes(column.levels[0]))),
             "correct the column, or fit again");
    }
    const bool by_meaning = column.kind != ColumnKind::categorical && !feature.levels.empty();
    if (by_meaning && !all_missing(column) && !tells_apart(feature.levels, column.kind))
      refuse("Encoder::inputs",
             fmt::format("text in column {}, as in training, where different words read as one {} value",
                         in_quotes(feature.name), kind_name(column.kind)),
             fmt::format("a {} column", kind_name(column.kind)),
             "read the table as the model's reading() says");
    readers.push_back({&feature, &column, offset, slots_of(feature, column)});
    offset += feature.width();
  }
  return readers;
}

/// Writes the features of one cell to `out`. Returns false if the cell's number is too far from the training
/// rows (Encoder::kFarthest).
bool encode(const Reader& reader, int64_t row, float* out) {
  const Encoder::Feature& feature = *reader.feature;
  double value = reader.column->values[static_cast<size_t>(row)];
  bool missing = std::isnan(value);
  if (!encode_scaled(feature, value, out)) return false;
  if (int64_t k = static_cast<int64_t>(feature.levels.size()) + feature.other; k > 0) {
    std::fill_n(out, k, 0.0F);
    int64_t slot = missing ? -1 : level_slot(reader, value);
    if (slot >= 0) out[slot] = 1;
    out += k;
  }
  encode_missing(feature, missing, out);
  return true;
}

std::string too_far(const Reader& reader, int64_t row, bool standard) {
  const double value = reader.column->values[static_cast<size_t>(row)];
  // A time within 1,901 years of 1970 is shown as a date, any other as a number: cell_text throws beyond the
  // year 9999.
  const bool date = reader.column->kind == ColumnKind::datetime && std::abs(value) < 6e10;
  return fmt::format(
      "expected a number within {:g} {} of the training rows in column {}; received {}; beyond that an "
      "answer is rounding error: correct the cell, or leave it empty where the value is not known",
      Encoder::kFarthest, standard ? "sds" : "half-ranges", in_quotes(reader.column->name),
      date ? cell_text(*reader.column, value) : fmt::format("{}", value));
}

/// Returns notes on the cells of a column that are unlike those of training: missing cells where training had
/// none, and categories that training did not have.
std::vector<ColumnNote> cell_notes(const Reader& reader) {
  const Encoder::Feature& feature = *reader.feature;
  const size_t cells = reader.column->values.size();
  const auto known_levels = static_cast<int64_t>(feature.levels.size());
  int64_t missing = 0, fresh = 0;
  std::string first;
  for (double value : reader.column->values) {
    if (std::isnan(value)) {
      ++missing;
    } else if (known_levels > 0) {
      const int64_t slot = level_slot(reader, value);
      if (slot >= 0 && slot != known_levels) continue;
      if (fresh++ == 0) first = in_quotes(cell_text(*reader.column, value));
    }
  }
  std::vector<ColumnNote> notes;
  if (missing > 0 && !feature.indicator) {
    const char* replaced = feature.scaled ? "imputed with the training mean" : "encoded as zeros";
    notes.push_back({ColumnNoteKind::imputed, feature.name,
                     fmt::format("column {}: {} of {} cells are missing, none was in training: {}",
                                 in_quotes(feature.name), missing, cells, replaced),
                     fmt::format("lack some of {} cells, and lacked none in training: {}", cells, replaced),
                     std::to_string(missing)});
  }
  if (fresh > 0) {
    const char* encoded = feature.other ? "new or rare in training: encoded as other"
                                        : "not seen in training: encoded as zeros";
    notes.push_back({ColumnNoteKind::odd, feature.name,
                     fmt::format("column {}: {} of {} cells hold a category {} (the first: {})",
                                 in_quotes(feature.name), fresh, cells, encoded, first),
                     fmt::format("hold, in some of {} cells, a category {}", cells, encoded),
                     std::to_string(fresh)});
  }
  return notes;
}

}  // namespace

/// Returns the columns of the table that as_trained() changes, by their places.
std::vector<std::pair<size_t, Column>> Encoder::changed_bits(const Table& table) const {
  std::vector<std::pair<size_t, Column>> changed;
  size_t hint = 0;
  for (const Feature& feature : features_) {
    if (feature.width() == 0 || (feature.kind == ColumnKind::numeric && !feature.held_bits())) continue;
    const Column* column = find_column(feature, table, hint);
    if (column == nullptr || feature.kind == ColumnKind::datetime) continue;
    if (auto bits = bits_as(*column, {feature.kind, feature.levels}))
      changed.emplace_back(column - table.columns.data(), std::move(*bits));
  }
  return changed;
}

void Encoder::inputs(const Table& table, std::span<float> out, std::vector<BadRow>* bad) const {
  if (!changed_bits(table).empty()) return inputs(as_trained(table), out, bad);
  int64_t d = static_cast<int64_t>(schema_.features.size());
  std::vector<Reader> readers = readers_of(features_, table);
  const std::vector<Axis> axes = domain();  // for events: one axis per reader
  check(std::ssize(out) == table.rows * d, "Encoder::inputs",
        "a buffer with a number for each feature of a row", "one of another size");
  float* x = out.data();
  std::map<int64_t, std::string> faults;
  for (int64_t start = 0; start < table.rows; start += kBlock) {
    int64_t end = std::min(start + kBlock, table.rows);
    for (size_t i = 0; i < readers.size(); ++i) {
      const Reader& reader = readers[i];
      for (int64_t row = start; row < end; ++row) {
        std::string fault;
        if (!axes.empty())
          fault = fault_in_domain(*reader.column, reader.column->values[static_cast<size_t>(row)], axes[i],
                                  "fit on a wider domain");
        if (fault.empty() && !encode(reader, row, x + row * d + reader.offset))
          fault = too_far(reader, row, options_.scale == "standard");
        if (!fault.empty()) faults.try_emplace(row, std::move(fault));
      }
    }
  }
  for (const auto& [row, fault] : faults) {
    if (bad == nullptr) throw_bad_cell(table, row, fault);
    bad->push_back({row, fault});
    std::fill_n(x + row * d, d, 0.0F);
  }
}

std::vector<double> Encoder::target(const Table& table) const {
  return target_values(table, options_.target, schema_.task);
}

std::vector<Axis> Encoder::domain() const {
  std::vector<Axis> axes;
  if (schema_.task.kind != TaskKind::events) return axes;
  for (const Feature& f : features_) axes.push_back({f.shift - f.scale, f.shift + f.scale});
  return axes;
}

std::vector<std::string> Encoder::notes_for(const Table& table) const {
  if (!changed_bits(table).empty()) return notes_for(as_trained(table));
  std::vector<std::string> known = options_.ignore;
  if (!options_.target.empty()) known.push_back(options_.target);
  for (const Feature& feature : features_) known.push_back(feature.name);
  std::vector<ColumnNote> notes;
  for (const Column& column : table.columns) {
    if (std::find(known.begin(), known.end(), column.name) != known.end() || is_row_label(column.name))
      continue;
    notes.push_back({ColumnNoteKind::dropped, column.name,
                     fmt::format("column {} was not there in training: not used", in_quotes(column.name)),
                     "were not there in training: not used"});
  }
  for (const Reader& reader : readers_of(features_, table)) {
    const std::string& name = reader.feature->name;
    notes.push_back(
        {ColumnNoteKind::odd, name,
         rounded_note(*reader.column, "column " + in_quotes(name), "different ones may have become equal")});
    notes.push_back({ColumnNoteKind::odd, name, offset_note(*reader.column, reader.feature->offsets)});
    notes.push_back({ColumnNoteKind::odd, name, mixed_offsets_note(*reader.column)});
    std::ranges::copy(cell_notes(reader), std::back_inserter(notes));
  }
  return gathered(notes);
}

}  // namespace slimbayes
