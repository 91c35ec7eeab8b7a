#include "slimbayes/data/table/csv_faults.h"

#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

void check_text(std::string_view text, const std::string& source) {
  if (text.starts_with("\x1f\x8b"))
    throw DataError(source, "expected text; received a gzip file; name it .csv.gz or .tsv.gz");
  if (text.starts_with("PAR1"))
    throw DataError(source, "expected text; received a Parquet file; name it .parquet");
  if (text.find('\0') != std::string_view::npos) {
    throw DataError(
        source,
        "expected text; received bytes of zero; is it a binary file, or text in UTF-16? Save it as UTF-8");
  }
  arrow::util::InitializeUTF8();
  if (arrow::util::ValidateUTF8(text)) return;
  int64_t line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    size_t end = std::min(text.find('\n', at), text.size());
    if (!arrow::util::ValidateUTF8(text.substr(at, end - at))) break;
    at = end + 1;
  }
  throw DataError(
      source, "expected text in UTF-8; received other bytes; convert it, e.g. iconv -f latin1 -t utf8", line);
}

std::string long_cell(const TableBound& bound) { return "a cell longer than " + bytes_text(bound.cell); }

void throw_bad_record(CsvWalker walker, size_t columns, const std::string& source,
                      const std::string& arrow_message) {
  bool first = true;
  constexpr size_t most = 1 << 20;  // bytes kept of a cell; only the number of cells is needed
  for (std::optional<CsvRecord> record = walker.next(most); record;
       record = walker.next(most), first = false) {
    if (record->open_quote) {
      throw DataError(
          source,
          "expected a closing quote; received the end of the file; close the quote that opens in this row",
          record->line);
    }
    if (record->fields.size() == columns) continue;
    throw DataError(
        source,
        fmt::format(
            "expected {} cells as in the header; received {}; add or remove separators, and put a cell that "
            "holds one in double quotes{}",
            columns, record->fields.size(),
            first && columns > 1 && record->fields.size() == columns + 1
                ? "; if each row begins with a label, as R's write.table has them, begin the header with a "
                  "separator"
                : ""),
        record->line);
  }
  throw DataError(source, fmt::format("expected delimited text; received what Arrow cannot read: {}",
                                      foreign_text(arrow_message)));
}

void check_cells(CsvWalker walker, const TableBound& bound, const std::string& source) {
  while (const std::optional<CsvRecord> record = walker.next(bound.cell)) {
    const auto large = [&](const std::string& field) { return field.size() > bound.cell; };
    const auto place = std::ranges::find_if(record->fields, large);
    if (place == record->fields.end() && !record->open_quote) continue;
    throw DataError(
        source,
        record->open_quote
            ? "expected a closing quote; received the end of the file; close the quote that opens in this row"
            : "expected cells of a table; received " + long_cell(bound) + "; " + kShorten,
        record->line, std::min(place - record->fields.begin() + 1, std::ssize(record->fields)));
  }
}

void throw_at(CsvWalker walker, const CellPlace& place, const std::string& source,
              const std::string& message) {
  std::optional<CsvRecord> record = walker.next();
  for (int64_t row = 0; record && row < place.row; ++row) record = walker.next();
  throw DataError(source, message, record ? record->line : place.row + 2, place.column);
}

}  // namespace slimbayes
