#pragma once

#include <arrow/csv/parser.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace slimbayes {

/// A delimited text (CSV, TSV), cut between its records.
struct CsvPieces {
  /// Pieces of about a megabyte, in order. Each holds one or more whole records (header or rows). Empty lines
  /// between two pieces may be in neither.
  std::vector<std::string_view> pieces;
  /// The record at the end of the text, if it opens a quote that is never closed; it is not in `pieces`.
  std::string_view open = {};
};

/// Cuts a delimited text into pieces.
CsvPieces csv_pieces(std::string_view text, char delimiter);

/// Returns how many bytes of the text are whole records, each with its line end.
size_t whole_records(std::string_view text, char delimiter);

/// The records of a piece of delimited text, cut into cells by Arrow's parser. A quote opens a quoted cell
/// only at the start of a cell, and empty lines are skipped.
struct CsvRecords {
  /// Cuts at most `most` records of `piece`, which must begin with a record. `columns`: the number of cells
  /// that each record must have; -1: as many as the first record has. `pool` holds the cells and must outlive
  /// this object.
  CsvRecords(std::string_view piece, char delimiter, arrow::MemoryPool& pool, int32_t columns = -1,
             int32_t most = std::numeric_limits<int32_t>::max());

  arrow::Status status;                          // an error: there are no cells
  std::optional<arrow::csv::InvalidRow> ragged;  // the error: the first record that has not `columns` cells
  uint32_t bytes = 0;                            // how many bytes of the piece the records take
  std::unique_ptr<arrow::csv::BlockParser> parser;  // has num_rows() and num_cols()

  /// Calls visit(cell, quoted) for each cell of a column, from the first record on. `cell` is a view of the
  /// text without the quotes around it; it is valid as long as this object.
  template <class Visit>
  void each(int32_t column, Visit visit) const {
    const auto visited = [&](const uint8_t* data, uint32_t size, bool quoted, auto...) {
      visit(std::string_view(reinterpret_cast<const char*>(data), size), quoted);
      return arrow::Status::OK();
    };
    parser->VisitColumn(column, visited).ok();  // `visited` never fails
  }
};

/// Returns the line, counted from 1, of the first record that begins at this byte of `text` or, after empty
/// lines, behind it.
int64_t line_at(std::string_view text, size_t at);

}  // namespace slimbayes
