#include "slimbayes/data/table/records.h"

#include <algorithm>

namespace slimbayes {

std::optional<CsvRecord> CsvWalker::next(size_t most) {
  while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) end_line();
  if (at >= text.size()) return std::nullopt;
  CsvRecord record{line, {}};
  do record.fields.push_back(field(record.open_quote, most));
  while (at < text.size() && text[at] == delimiter && ++at);
  if (at < text.size()) end_line();
  return record;
}

void CsvWalker::end_line() {
  if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
  ++at, ++line;
}

std::string CsvWalker::field(bool& open_quote, size_t most) {
  std::string out;
  bool inside = at < text.size() && text[at] == '"';
  for (at += inside; at < text.size(); ++at) {
    char c = text[at];
    if (inside && c == '"') {
      if (at + 1 < text.size() && text[at + 1] == '"')
        ++at;
      else {
        inside = false;
        continue;
      }
    }
    if (!inside && (c == delimiter || c == '\n' || c == '\r')) return out;
    if (c == '\n') ++line;
    if (out.size() <= most) out += c;
  }
  open_quote = open_quote || inside;
  return out;
}

std::vector<std::string_view> csv_pieces(std::string_view body, char delimiter) {
  constexpr size_t kPiece = size_t{1} << 20;
  const bool quotes = body.find('"') != std::string_view::npos;  // a quoted cell may hold line ends
  std::vector<std::string_view> pieces;
  CsvWalker walker{body, delimiter};
  for (size_t start = 0, end = 0; start < body.size(); start = end) {
    end = std::min(start + kPiece, body.size());
    if (quotes) {
      while (walker.at < end && walker.next(0)) continue;
      end = walker.at;
    } else {
      end = body.find_first_not_of("\r\n", std::min(body.find_first_of("\r\n", end), body.size()));
      end = std::min(end, body.size());
    }
    const std::string_view piece = body.substr(start, end - start);
    if (piece.find_first_not_of("\r\n") != std::string_view::npos) pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace slimbayes
