#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/encoder.h"
#include "slimbayes/data/windows.h"

namespace slimbayes {

/// From windows to numbers, fitted on the training windows and saved with the model. The inputs of a row are
/// those of Encoder, with the target's own past among them as "TARGET (past)"; the time gives the hour, the
/// day of the week and of the year as sine and cosine, where a step is at most a quarter of such a period and
/// the training rows span it.
class WindowEncoder {
 public:
  /// `train` are places in Windows::last. Throws as Encoder::fit.
  static WindowEncoder fit(const Table& table, const Windows& windows, const WindowOptions& options,
                           const std::vector<int64_t>& train, const EncoderOptions& encoder);

  /// inputs float32 [b, window, d] of these windows, the target of each where `with_target`. Windows with a
  /// row that is bad (Encoder::inputs) are listed in `bad` by their place in `chosen` (row = place), or throw
  /// DataError.
  Dataset dataset(const Table& table, const Windows& windows, const std::vector<int64_t>& chosen,
                  bool with_target, std::vector<BadRow>* bad = nullptr) const;

  const Schema& schema() const { return schema_; }
  const WindowOptions& options() const { return options_; }
  double step() const { return step_; }        // from row to row, as in training
  const Encoder& rows() const { return rows_; }  // of one row's inputs, without calendar
  const std::string& target_name() const { return target_; }
  Reading reading() const;
  /// As Encoder::notes_for; the columns of time and group are known.
  std::vector<std::string> notes_for(const Table& table) const;

  nlohmann::json to_json() const;
  static WindowEncoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  Table with_past(const Table& table) const;
  WindowOptions options_;
  std::string target_;
  Encoder rows_;
  Schema schema_;                // of the window: every feature of a row
  double step_ = 1;
  std::vector<double> periods_;  // seconds; a sine and a cosine each
  std::map<std::string, ColumnKind, std::less<>>
      keys_;  // columns of time and group, by the kind that training saw
};

}  // namespace slimbayes
