#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// One record (header or row) of a delimited text, cut into fields. The fields are texts without quotes
/// around them.
struct CsvRecord {
  int64_t line;  // line on which the record begins, from 1
  std::vector<std::string> fields;
  bool open_quote = false;  // the text ended within a quoted cell
};

/// Reads a delimited text record by record, from the position `at` in line `line`. A quote opens a quoted
/// cell only at the start of a field, as in Arrow's reader; empty lines are skipped.
struct CsvWalker {
  std::string_view text;
  char delimiter;
  size_t at = 0;
  int64_t line = 1;

  /// Returns the next record; nullopt at the end of the text. Fields are cut after `most` + 1 bytes, so that
  /// a caller can see that a field is longer than `most` without storing all of it.
  std::optional<CsvRecord> next(size_t most = std::string::npos);

 private:
  void end_line();
  std::string field(bool& open_quote, size_t most);
};

/// Cuts `body`, the text below the header, into pieces of about a megabyte, in order. Each piece holds one or
/// more whole records.
std::vector<std::string_view> csv_pieces(std::string_view body, char delimiter);

}  // namespace slimbayes
