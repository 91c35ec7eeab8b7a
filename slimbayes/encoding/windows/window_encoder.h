#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/windows/window_table.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Encoded windows. A row of the table is encoded once, however many windows see it.
struct WindowRows {
  std::vector<float> rows;    // [n, d] row after row, sorted as Windows::order
  std::vector<int64_t> last;  // [m] the row of `rows` with which each window ends
};

/// Turns windows of a time series into the inputs of a network. It is fitted on the training windows and
/// saved with the model. An Encoder encodes the inputs of each row; they include the values of the target in
/// the window, named "TARGET (past)". If the times are dates, calendar features are added (calendar.h). With
/// WindowOptions::fill_gaps a missing cell is replaced by the last known cell of its column (carried); the
/// indicator of missing cells still marks it.
class WindowEncoder {
 public:
  /// Fits the inputs and the task on these windows; the target of each must be in the table.
  /// EncoderOptions::weights has the weight of each window at the row that it predicts; they weigh the
  /// targets alone. Throws as Encoder::fit.
  SLIMBAYES_EXPORT static WindowEncoder fit(const WindowTable& training, const EncoderOptions& options);

  /// Returns the encoded rows of the table and the windows in them. Windows with a bad row (see
  /// Encoder::inputs) are appended to `bad` by their index in WindowTable::selected; if `bad` is nullptr, a
  /// bad row throws DataError. Throws std::invalid_argument for windows that were found with other options.
  SLIMBAYES_EXPORT WindowRows encode(const WindowTable& given, std::vector<BadRow>* bad = nullptr) const;

  const Schema& schema() const { return schema_; }
  const WindowOptions& options() const { return options_; }
  double step() const { return step_; }          // between rows in training, in the units of Windows::time
  const Encoder& rows() const { return rows_; }  // encodes a row without calendar features
  const std::string& target_name() const { return target_; }
  const std::vector<double>& periods() const { return periods_; }  // of the calendar features, in seconds
  /// Returns the kinds of the time and group columns in training, by name.
  const std::map<std::string, ColumnKind, std::less<>>& keys() const { return keys_; }
  /// Returns how read_table should read rows for this encoder (see Encoder::reading). It always includes the
  /// target, because the past values of the target are inputs.
  SLIMBAYES_EXPORT Reading reading() const;
  /// Returns sentences about a table to be predicted or scored, as Encoder::notes_for. `windows` are the
  /// windows of this table.
  SLIMBAYES_EXPORT std::vector<std::string> notes_for(const Table& table, const Windows& windows) const;

  SLIMBAYES_EXPORT nlohmann::json to_json() const;
  SLIMBAYES_EXPORT static WindowEncoder from_json(
      const nlohmann::json& json);  // throws std::invalid_argument

 private:
  SLIMBAYES_EXPORT void fit_keys(const Table& table);
  SLIMBAYES_EXPORT std::vector<float> encoded_rows(const WindowTable& given, std::vector<BadRow>& bad) const;
  SLIMBAYES_EXPORT void complete_schema();  // fills schema_ from options_, rows_ and periods_
  SLIMBAYES_EXPORT std::vector<std::string> input_names()
      const;  // the columns of the table that rows_ encodes
  WindowOptions options_;
  std::string target_;
  Encoder rows_;
  Schema schema_;  // of a window; its features are those of one row
  double step_ = 1;
  std::vector<double> periods_;  // calendar periods in seconds; each gives a sine and a cosine
  /// The kinds of the time and group columns in training, by name.
  std::map<std::string, ColumnKind, std::less<>> keys_;
  /// Whether the times of training gave an offset from UTC. Empty if the time column holds numbers or there
  /// are several time columns.
  std::optional<bool> offsets_;
};

}  // namespace slimbayes
