#include "slimbayes/storage/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

std::string place(const std::string& path, int64_t line, int64_t column) {
  const std::string file = foreign_text(path);
  if (line <= 0) return file;
  return column <= 0 ? fmt::format("{}:{}", file, line) : fmt::format("{}:{}:{}", file, line, column);
}

}  // namespace

DataError::DataError(const std::string& file, const std::string& message, int64_t line, int64_t column)
    : std::runtime_error(place(file, line, column) + ": " + message) {}

std::string without_functions(std::string_view message) {
  constexpr std::string_view kEnd = "] expected ";
  std::string text(message);
  for (size_t end = text.find(kEnd); end != std::string::npos; end = text.find(kEnd, end + 1)) {
    const size_t begin = text.rfind('[', end);
    if (begin == std::string::npos) continue;
    if (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '(') continue;
    const std::string_view name = std::string_view(text).substr(begin + 1, end - begin - 1);
    const bool is_name = std::ranges::all_of(name, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '-' || c == ' ';
    });
    if (!is_name) continue;
    text.erase(begin, end + 2 - begin);
    end = begin;
  }
  return text;
}

}  // namespace slimbayes
