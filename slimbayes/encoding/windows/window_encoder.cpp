// Encodes windows of a time series. Every row is encoded once, into a matrix sorted by series and time. A
// window is a range of rows of this matrix.
#include "slimbayes/encoding/windows/window_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/notes/column_notes.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/encoding/windows/calendar.h"
#include "slimbayes/encoding/windows/gaps.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

constexpr const char* kWindowEncoder = "windows";

std::vector<int64_t> rows_of(const Windows& windows, const std::vector<int64_t>& places) {
  std::vector<int64_t> rows;
  for (int64_t place : places) rows.push_back(windows.order[static_cast<size_t>(place)]);
  return rows;
}

/// Returns the places (indices into Windows::order) of all rows that at least one of these windows sees,
/// ascending. `chosen` holds indices into Windows::last.
std::vector<int64_t> seen_places(const Windows& windows, const std::vector<int64_t>& chosen) {
  std::vector<bool> seen(windows.order.size());
  for (int64_t i : chosen) {
    const int64_t last = windows.last[static_cast<size_t>(i)];
    for (int64_t place = last - windows.options.window + 1; place <= last; ++place)
      seen[static_cast<size_t>(place)] = true;
  }
  std::vector<int64_t> places;
  for (size_t place = 0; place < seen.size(); ++place) {
    if (seen[place]) places.push_back(static_cast<int64_t>(place));
  }
  return places;
}

/// Returns the names of the features of a row. Those of the target's own column are named "TARGET (past)",
/// because as inputs they hold earlier values.
std::vector<std::string> row_features(const Encoder& rows, const std::string& target) {
  std::vector<std::string> names;
  for (Encoder::Feature column : rows.columns()) {
    if (column.name == target) column.name += " (past)";
    for (std::string& name : feature_names(column)) names.push_back(std::move(name));
  }
  return names;
}

/// Sets the indicator features to 1 where a cell of `table` is missing. `x` [n, d] holds the encoded rows
/// after missing cells were carried forward, `table` the rows before.
void mark_missing(std::vector<float>& x, const Encoder& rows, const Table& table) {
  const size_t d = rows.schema().features.size();
  size_t offset = 0;
  for (const Encoder::Feature& feature : rows.columns()) {
    offset += static_cast<size_t>(feature.width());
    if (!feature.indicator) continue;
    const std::vector<double>& cells = table.find(feature.name)->values;
    for (size_t row = 0; row < cells.size(); ++row)
      x[row * d + offset - 1] = std::isnan(cells[row]) ? 1.0F : 0.0F;
  }
}

/// Returns how many of the rows at these places were inserted by fill_gaps.
int64_t inserted_among(const Windows& windows, const std::vector<int64_t>& places) {
  return std::ranges::count_if(places, [&](int64_t place) { return windows.is_inserted(place); });
}

/// Appends the windows that see a bad row to `bad`, each with the reason of its first bad row; throws
/// DataError for the first such window if `bad` is nullptr.
void add_bad_windows(const WindowTable& given, const std::vector<BadRow>& bad_rows,
                     std::vector<BadRow>* bad) {
  const Windows& windows = *given.windows;
  std::map<int64_t, const std::string*> reason;  // by row of the table
  for (const BadRow& row : bad_rows) reason[row.row] = &row.reason;
  for (size_t k = 0; k < given.selected.size(); ++k) {
    const int64_t last = windows.last[static_cast<size_t>(given.selected[k])];
    for (int64_t place = last - windows.options.window + 1; place <= last; ++place) {
      const int64_t row = windows.order[static_cast<size_t>(place)];
      const auto found = reason.find(row);
      if (found == reason.end()) continue;
      if (bad == nullptr) throw_bad_cell(*given.table, row, *found->second);
      bad->push_back(
          {static_cast<int64_t>(k), fmt::format("in {}: {}", row_place(*given.table, row), *found->second)});
      break;
    }
  }
}

void check_past(const Table& table, const std::string& target) {
  if (table.find(target) == nullptr)
    refuse(kWindowEncoder, fmt::format("the column {}, whose past is an input", in_quotes(target)),
           "a table without it", nearest_hint(target, table.names()));
}

}  // namespace

WindowEncoder WindowEncoder::fit(const WindowTable& training, const EncoderOptions& given) {
  check(!training.selected.empty(), "WindowEncoder::fit", "at least one training window", "none");
  const Table& table = *training.table;
  const Windows& windows = *training.windows;
  WindowEncoder encoder;
  encoder.options_ = windows.options;
  encoder.target_ = given.target;
  encoder.step_ = windows.step;
  std::vector<int64_t> targets;
  for (int64_t i : training.selected) targets.push_back(windows.target[static_cast<size_t>(i)]);
  encoder.schema_.task =
      fit_task(table, rows_of(windows, targets),
               {given.target, given.likelihood, given.target_scale, given.weights, given.bounds});
  check(encoder.schema_.task.kind != TaskKind::events, "WindowEncoder::fit", "a target a row", "events");
  encoder.fit_keys(table);

  EncoderOptions inputs = given;
  inputs.likelihood.reset();
  inputs.target = "";
  inputs.weights = {};  // w equal windows see the same rows as one
  for (const std::string& name : windows.options.time) inputs.ignore.push_back(name);
  const std::vector<int64_t> seen = seen_places(windows, training.selected);
  if (windows.options.fill_gaps) inputs.carried = inserted_among(windows, seen);
  encoder.rows_ = Encoder::fit_inputs(table, rows_of(windows, seen), inputs);
  encoder.periods_ = calendar_periods(windows, seen);
  encoder.complete_schema();
  return encoder;
}

/// Stores the kinds of the time and group columns, and whether the times give an offset from UTC.
void WindowEncoder::fit_keys(const Table& table) {
  for (const auto* names : {&options_.time, &options_.group}) {
    for (const std::string& name : *names) {
      const Column* column = table.find(name);
      if (column == nullptr)
        refuse(kWindowEncoder, fmt::format("a column {}", in_quotes(name)), "a table without it",
               nearest_hint(name, table.names()));
      keys_[name] = column->kind;
      if (names == &options_.time && column->kind == ColumnKind::datetime) offsets_ = column->offsets;
    }
  }
}

void WindowEncoder::complete_schema() {
  schema_.features = row_features(rows_, target_);
  for (std::string& name : calendar_names(periods_)) schema_.features.push_back(std::move(name));
  schema_.input.sizes = {options_.window, std::ssize(schema_.features)};
}

/// Returns the encoded rows of the table with their calendar features, sorted as Windows::order, [n, d]. Rows
/// with a bad cell are appended to `bad` by their index in the table.
std::vector<float> WindowEncoder::encoded_rows(const WindowTable& given, std::vector<BadRow>& bad) const {
  const Windows& windows = *given.windows;
  std::optional<Table> filled;
  if (options_.fill_gaps) filled = carried(*given.table, windows, input_names());
  const Table& table = filled ? *filled : *given.table;
  const size_t d = schema_.features.size(), own = rows_.schema().features.size();
  std::vector<float> inputs(static_cast<size_t>(table.rows) * own);
  rows_.inputs(table, inputs, &bad);
  if (options_.fill_gaps) mark_missing(inputs, rows_, *given.table);
  std::vector<float> sorted(windows.order.size() * d);
  for (size_t i = 0; i < windows.order.size(); ++i) {
    const std::span<float> row(sorted.data() + i * d, d);
    std::copy_n(inputs.data() + static_cast<size_t>(windows.order[i]) * own, own, row.data());
    calendar_features(windows.time[i], periods_, row.subspan(own));
  }
  return sorted;
}

WindowRows WindowEncoder::encode(const WindowTable& given, std::vector<BadRow>* bad) const {
  const Windows& windows = *given.windows;
  check_past(*given.table, target_);
  if (windows.options != options_ || windows.step != step_)
    refuse(kWindowEncoder,
           fmt::format("windows of {} rows in steps of {:g}, as in training", options_.window, step_),
           "others", "give the model the table: it finds its windows");
  std::vector<BadRow> bad_rows;
  WindowRows encoded{encoded_rows(given, bad_rows), {}};
  if (!bad_rows.empty()) add_bad_windows(given, bad_rows, bad);
  for (int64_t i : given.selected) encoded.last.push_back(windows.last[static_cast<size_t>(i)]);
  return encoded;
}

std::vector<std::string> WindowEncoder::input_names() const {
  std::vector<std::string> names;
  for (const Encoder::Feature& feature : rows_.columns()) names.push_back(feature.name);
  return names;
}

std::vector<std::string> WindowEncoder::notes_for(const Table& table, const Windows& windows) const {
  check_past(table, target_);
  // The notes describe the table after missing cells were carried forward. Before that, they would wrongly
  // say that the missing cells were imputed with the training mean.
  std::vector<std::string> notes =
      rows_.notes_for(options_.fill_gaps ? carried(table, windows, input_names()) : table);
  const Column* time = offsets_ && options_.time.size() == 1 ? table.find(options_.time[0]) : nullptr;
  if (time != nullptr) notes.push_back(offset_note(*time, offsets_));
  std::erase(notes, "");
  return notes;
}

Reading WindowEncoder::reading() const {
  Reading reading = rows_.reading(false);
  for (const auto& [name, kind] : keys_) {
    if (std::ranges::find(reading.names, name) == reading.names.end()) reading.kinds[name] = kind;
  }
  return reading;
}

}  // namespace slimbayes
