#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/encoder.h"
#include "slimbayes/data/window_table.h"

namespace slimbayes {

/// Turns windows into numbers. It is fitted on the training windows and saved with the model. Encoder encodes
/// the inputs of a row, which include the target's own past as "TARGET (past)". If the times are dates,
/// features of the calendar are added (calendar.h). With WindowOptions::fill_gaps a missing cell is replaced
/// by the last known cell of its column (carried); the indicator of missing cells still marks it.
class WindowEncoder {
 public:
  /// Fits the inputs and the task on windows whose target is in the table. Throws as Encoder::fit.
  static WindowEncoder fit(const WindowTable& training, const EncoderOptions& options);

  /// Returns inputs float32 [b, window, d] of the windows and, if `with_target`, the target of each. Windows
  /// with a bad row (Encoder::inputs) are listed in `bad` by their index in WindowTable::chosen; if `bad` is
  /// nullptr, a bad row throws DataError.
  Dataset dataset(const WindowTable& given, bool with_target, std::vector<BadRow>* bad = nullptr) const;

  const Schema& schema() const { return schema_; }
  const WindowOptions& options() const { return options_; }
  double step() const { return step_; }  // time from row to row in training, in the units of Windows::time
  const Encoder& rows() const { return rows_; }  // encoder of one row's inputs, without the calendar features
  const std::string& target_name() const { return target_; }
  /// Says how to read a file of rows for this encoder; it includes the target, whose past is an input.
  Reading reading() const;
  /// Returns sentences about this table, as Encoder::notes_for.
  std::vector<std::string> notes_for(const Table& table, const Windows& windows) const;

  nlohmann::json to_json() const;
  static WindowEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  void fit_keys(const Table& table);
  at::Tensor encoded_rows(const WindowTable& given, std::vector<BadRow>& bad) const;
  void complete_schema();                        // from the options, the rows' encoder and the periods
  std::vector<std::string> input_names() const;  // the source columns of rows()
  WindowOptions options_;
  std::string target_;
  Encoder rows_;
  Schema schema_;  // of a window; lists every feature of a row
  double step_ = 1;
  std::vector<double> periods_;  // seconds; each gives a sine and a cosine
  /// Kinds of the time and group columns as seen in training.
  std::map<std::string, ColumnKind, std::less<>> keys_;
  /// Whether the times of training gave their offsets from UTC. Empty unless a single column of dates gives
  /// the time.
  std::optional<bool> offsets_;
};

}  // namespace slimbayes
