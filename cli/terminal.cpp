// Fits text to a terminal without breaking words. Character widths come from utf8proc (the East Asian widths
// of Unicode), because the C library's wcwidth needs a locale, and the tool sets none. No library draws bars
// and tables: the C++ libraries for this (indicators, tabulate, libfort) are in no Debian release, and the
// tool only needs lines that leave out what does not fit.
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "slimbayes/storage/printable.h"

namespace slimbayes::cli {
namespace {

constexpr size_t kUsualWidth = 80, kWidestText = 100;

std::optional<size_t> width_from_environment() {
  const char* given = std::getenv("COLUMNS");
  const std::string_view text = given == nullptr ? "" : given;
  size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (error != std::errc() || end != text.data() + text.size() || width == 0) return std::nullopt;
  return width;
}

/// Returns one line wrapped as wrapped() does; neither `line` nor the result ends in a newline.
std::string wrapped_line(std::string_view line, size_t width, size_t hang, const std::string& mark) {
  if (display_width(line) <= width) return std::string(line);
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const size_t room = width - std::min(width, mark.size());
  std::string out(indent, ' ');
  size_t column = indent, start = indent;  // `start`: the column of the first word of the line
  for (size_t at = indent; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const size_t size = display_width(word);
    const bool last = end == line.size();
    if (column > start && column + 1 + size > (last ? width : room)) {
      start = column = indent + hang;
      out += mark + "\n" + std::string(column, ' ');
    } else if (column > start) {
      out += ' ', ++column;
    }
    out += word;
    column += size;
    at = end + 1;
  }
  return out;
}

}  // namespace

std::optional<size_t> terminal_width(int stream) {
  if (isatty(stream) != 1) return std::nullopt;
  if (const auto given = width_from_environment()) return given;
  struct winsize size = {};
  const bool known = ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualWidth;
}

size_t text_width() { return std::min(kWidestText, terminal_width(STDOUT_FILENO).value_or(kWidestText)); }

size_t display_width(std::string_view line) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(line.data());
  const auto size = static_cast<utf8proc_ssize_t>(line.size());
  size_t width = 0;
  for (utf8proc_ssize_t at = 0; at < size;) {
    utf8proc_int32_t letter = -1;
    const utf8proc_ssize_t read = utf8proc_iterate(bytes + at, size - at, &letter);
    width += letter < 0 ? 1 : static_cast<size_t>(std::max(0, utf8proc_charwidth(letter)));
    at += std::max<utf8proc_ssize_t>(1, read);  // a byte that is not UTF-8 counts as one character
  }
  return width;
}

std::string shown(std::string_view foreign) { return printable(foreign); }

std::string shown_lines(std::string_view text) { return printable_lines(text); }

std::string data_for(int stream, std::string data) {
  return isatty(stream) == 1 ? shown_lines(data) : std::move(data);
}

std::string wrapped(const std::string& text, size_t width, size_t hang, const std::string& mark) {
  std::string out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += wrapped_line(std::string_view(text).substr(at, end - at), width, hang, mark);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::string fitted_to(int stream, const std::string& line) {
  const auto width = terminal_width(stream);
  return width ? wrapped(shown_lines(line), *width, 2) : shown_lines(line);
}

}  // namespace slimbayes::cli
