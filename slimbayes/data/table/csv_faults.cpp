#include "slimbayes/data/table/csv_faults.h"

#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <algorithm>

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

}  // namespace slimbayes
