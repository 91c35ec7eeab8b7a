#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/encoder.h"
#include "slimbayes/encoding/notes/column_note.h"

namespace slimbayes {

/// Returns how many features the columns of a table are encoded to, at most, without those of missing cells.
int64_t most_features(const Table& table);

/// Decides how the encoder represents each column of a table, from the training rows (Encoder::fit), and
/// collects notes for the user on these decisions.
class FeatureFit {
 public:
  /// `rows` are the training rows; `all`, if not nullptr, has the statistics of all of them, where `rows` are
  /// a sample. The arguments must outlive this object.
  FeatureFit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options,
             const TableStatistics* all = nullptr);

  /// Returns how a column of the table is encoded. A column that numbers the rows (`numbers`) gives no
  /// feature. Throws DataError for an infinite number in a row from which the scale is computed.
  Encoder::Feature fit(const Column& column, bool numbers);

  /// Returns the notes on the columns fitted so far.
  const std::vector<ColumnNote>& notes() const { return notes_; }

 private:
  ColumnStatistics statistics_of(const Column& column, const std::vector<int64_t>& rows) const;
  bool fit_levels(const Column& column, const ColumnStatistics& own, Encoder::Feature& feature);
  void fit_scale(const Column& column, const ColumnStatistics& own, Encoder::Feature& feature) const;
  void add_category_notes(const Column& column, const std::vector<int64_t>& count);
  void add_number_notes(const Column& column, bool constant_once_rounded);
  void add_missing_note(const Encoder::Feature& feature, const ColumnStatistics& own);
  bool is_declared(const Column& column) const;

  const Table& table_;
  const std::vector<int64_t>& rows_;
  const EncoderOptions& options_;
  const TableStatistics* all_;
  std::vector<int64_t> ranged_;  // rows from which shifts and scales are computed (EncoderOptions::scale_on)
  std::vector<ColumnNote> notes_;
};

}  // namespace slimbayes
