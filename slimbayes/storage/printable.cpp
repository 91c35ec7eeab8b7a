// Makes text of foreign origin safe to show. A name of a column may hold an escape sequence, which a terminal
// obeys, or a change of direction, after which the rest of a line reads backwards: "1 000" as "000 1". The
// categories of characters come from utf8proc.
#include "slimbayes/storage/printable.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>

namespace slimbayes {

namespace {

/// Returns whether a character changes the direction of the text after it: the marks, embeddings, overrides
/// and isolates of Unicode's bidirectional algorithm. Letters have a direction of their own, but do not
/// change that of others.
bool changes_direction(utf8proc_int32_t letter) {
  constexpr utf8proc_int32_t kLeftToRightMark = 0x200e, kRightToLeftMark = 0x200f, kArabicMark = 0x061c;
  if (letter == kLeftToRightMark || letter == kRightToLeftMark || letter == kArabicMark) return true;
  switch (utf8proc_get_property(letter)->bidi_class) {
    case UTF8PROC_BIDI_CLASS_LRE:
    case UTF8PROC_BIDI_CLASS_LRO:
    case UTF8PROC_BIDI_CLASS_RLE:
    case UTF8PROC_BIDI_CLASS_RLO:
    case UTF8PROC_BIDI_CLASS_PDF:
    case UTF8PROC_BIDI_CLASS_LRI:
    case UTF8PROC_BIDI_CLASS_RLI:
    case UTF8PROC_BIDI_CLASS_FSI:
    case UTF8PROC_BIDI_CLASS_PDI:
      return true;
    default:
      return false;
  }
}

/// Returns whether a terminal would take this character for a command, a line break or a change of direction.
/// Also returns true for -1, which stands for a byte that is not UTF-8.
bool commands(utf8proc_int32_t letter) {
  if (letter < 0) return true;
  const utf8proc_category_t category = utf8proc_category(letter);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP || changes_direction(letter);
}

/// Returns the text with every character replaced for which commands() is true, by a blank if it is white
/// space, else by U+FFFD. Characters in `kept` stay.
std::string filtered(std::string_view text, std::string_view kept) {
  constexpr std::string_view kBlanks = "\t\n\v\f\r", kReplacement = "\xef\xbf\xbd";
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t at = 0; at < size;) {
    utf8proc_int32_t letter = -1;
    const auto read = std::max<utf8proc_ssize_t>(1, utf8proc_iterate(bytes + at, size - at, &letter));
    const std::string_view here = text.substr(static_cast<size_t>(at), static_cast<size_t>(read));
    if (!commands(letter) || kept.find(here) != kept.npos)
      out += here;
    else
      out += kBlanks.find(here) != kBlanks.npos ? " " : kReplacement;
    at += read;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view foreign) { return filtered(foreign, ""); }

std::string printable_lines(std::string_view text) { return filtered(text, "\n\t"); }

std::string foreign_text(std::string_view foreign) {
  std::string out;
  out.reserve(foreign.size());
  for (size_t i = 0; i < foreign.size(); ++i) {
    if (i > 0 && foreign[i] == '.' && foreign[i - 1] == '`') out += '`';
    out += foreign[i];
  }
  return out;
}

}  // namespace slimbayes
