#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/encoding/row_encoder.h"
#include "slimbayes/encoding/windows/time_parts.h"
#include "slimbayes/encoding/windows/window_encoder.h"

namespace slimbayes {

/// Encodes single windows as WindowEncoder::encode does those of a table, without a table. A window is
/// window() rows of one series, oldest first, one step apart in time. Immutable.
///
/// With WindowOptions::fill_gaps a missing cell takes the last known one of its column in the window, and a
/// missing row is one with its time alone. A table may have known cells before the window, which are not seen
/// here.
class SingleWindowEncoder {
 public:
  /// `missing`: further texts of a missing cell (Reading::missing); `notation`: how cells spell numbers and
  /// dates.
  explicit SingleWindowEncoder(const WindowEncoder& encoder, std::vector<std::string> missing = {},
                               Notation notation = {});

  /// Returns the columns of a row of the window: those of the time, then those that give inputs.
  const std::vector<Encoder::Feature>& columns() const { return columns_; }
  int64_t window() const { return options_.window; }
  size_t cells() const { return static_cast<size_t>(window()) * columns_.size(); }  // of a window
  size_t numbers() const { return cells(); }
  int64_t width() const { return window() * features_; }  // numbers of an encoded window

  /// Writes the numbers of a window of texts, row after row, [cells()], to out [numbers()]. Throws DataError
  /// as RowEncoder::number_of, with the row.
  void read(std::span<const std::string_view> cells, std::span<double> out) const;

  /// Writes the inputs of a window with these numbers to out [width()]. Throws std::invalid_argument as
  /// RowEncoder::encode, and for a missing time, rows that are not one step apart, and rows of several
  /// series, as far as the groups have inputs; of categories that training did not have read() alone can
  /// tell.
  void encode(std::span<const double> numbers, std::span<float> out) const;

  /// Returns how far the window lies from the training rows: the largest of its rows, and the root mean
  /// square over them. Throws std::invalid_argument for another number of cells.
  RowDistance distance(std::span<const double> numbers) const;

 private:
  void encode_row(std::span<const double> row, std::span<const double> known, std::span<float> out) const;
  double time_of(std::span<const double> row) const;
  void check_size(size_t numbers) const;

  WindowOptions options_;
  double step_;
  RowEncoder rows_;
  std::vector<double> periods_;
  std::optional<TimeParts> parts_;  // of several time columns
  std::vector<Encoder::Feature> columns_;
  std::vector<size_t> groups_;  // the columns of WindowOptions::group that give inputs
  int64_t features_;            // of an encoded row
};

}  // namespace slimbayes
