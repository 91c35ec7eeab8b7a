#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slimbayes {

/// One row of a delimited text, cut into fields that are not interpreted yet.
struct CsvRecord {
  int64_t line;  // of its first character, from 1
  std::vector<std::string> fields;
  bool open_quote = false;  // the text ended within a quoted cell
};

/// Walks the records of a delimited text. A quote opens only at the start of a field, as in Arrow's reader;
/// blank lines are skipped.
struct CsvWalker {
  std::string_view text;
  char delimiter;
  size_t at = 0;
  int64_t line = 1;

  /// Returns the next record, nothing at the end of the text. At most `most` + 1 bytes of each field are
  /// kept.
  std::optional<CsvRecord> next(size_t most = std::string::npos);

 private:
  void end_line();
  std::string field(bool& open_quote, size_t most);
};

/// Cuts the text below the header into pieces of about a megabyte, each of which ends with a record and holds
/// at least one.
std::vector<std::string_view> csv_pieces(std::string_view body, char delimiter);

}  // namespace slimbayes
