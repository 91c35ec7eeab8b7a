// Cuts delimited text into records and cells with the two parts of Arrow's CSV reader that know the grammar:
// the chunker finds the ends of records, the block parser finds the cells. Arrow's TableReader, which is made
// of the same parts, says neither in which line a fault is nor that a quote is never closed.
#include "slimbayes/data/table/records.h"

#include <arrow/buffer.h>
#include <arrow/csv/chunker.h>
#include <arrow/memory_pool.h>

#include <algorithm>

#include "slimbayes/storage/check.h"

namespace slimbayes {
namespace {

arrow::csv::ParseOptions options_with(char delimiter) {
  auto options = arrow::csv::ParseOptions::Defaults();
  options.delimiter = delimiter;
  return options;
}

std::shared_ptr<arrow::Buffer> buffer_of(std::string_view text) {
  return std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(text.data()),
                                         static_cast<int64_t>(text.size()));
}

}  // namespace

CsvPieces csv_pieces(std::string_view text, char delimiter) {
  constexpr size_t kPiece = size_t{1} << 20;
  auto options = options_with(delimiter);
  options.newlines_in_values = text.find('"') != std::string_view::npos;  // a quoted cell may hold line ends
  const auto chunker = arrow::csv::MakeChunker(options);
  CsvPieces out;
  size_t size = kPiece;
  while (!text.empty()) {
    const std::string_view block = text.substr(0, size);
    std::shared_ptr<arrow::Buffer> whole, rest, end, behind;
    internal_check(chunker->Process(buffer_of(block), &whole, &rest).ok(), "read_table",
                   "Arrow finds the end of the records in any text");
    auto length = static_cast<size_t>(whole->size());
    if (length < block.size() && block.size() == text.size()) {
      // The last record has no line end. If it cannot be completed by one either, a quote is open.
      if (!chunker->ProcessWithPartial(rest, buffer_of("\n"), &end, &behind).ok()) {
        out.open = text.substr(length);
        text.remove_suffix(out.open.size());
      } else {
        length = text.size();
      }
    } else if (length == 0) {
      size *= 2;  // the record is longer than the block
      continue;
    }
    const std::string_view piece = text.substr(0, length);
    if (piece.find_first_not_of("\r\n") != std::string_view::npos) out.pieces.push_back(piece);
    text.remove_prefix(length);
    size = kPiece;
  }
  return out;
}

size_t whole_records(std::string_view text, char delimiter) {
  auto options = options_with(delimiter);
  options.newlines_in_values = true;
  std::shared_ptr<arrow::Buffer> whole, rest;
  internal_check(arrow::csv::MakeChunker(options)->Process(buffer_of(text), &whole, &rest).ok(), "read_table",
                 "Arrow finds the end of the records in any text");
  return static_cast<size_t>(whole->size());
}

CsvRecords::CsvRecords(std::string_view piece, char delimiter, arrow::MemoryPool& pool, int32_t columns,
                       int32_t most) {
  auto options = options_with(delimiter);
  options.invalid_row_handler = [this](const arrow::csv::InvalidRow& row) {
    ragged.emplace(row);
    return arrow::csv::InvalidRowResult::Error;
  };
  parser = std::make_unique<arrow::csv::BlockParser>(&pool, options, columns, -1, most);
  status = piece.size() > std::numeric_limits<int32_t>::max()  // the parser's offsets have 31 bits
               ? arrow::Status::Invalid("a record longer than 2 GB")
               : parser->ParseFinal(piece, &bytes);
}

int64_t line_at(std::string_view text, size_t at) {
  at = std::min(text.find_first_not_of("\r\n", at), text.size());
  int64_t line = 1;
  for (size_t i = 0; i < at; ++i)
    line += text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  return line;
}

}  // namespace slimbayes
