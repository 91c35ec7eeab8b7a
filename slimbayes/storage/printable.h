#pragma once

#include <string>
#include <string_view>

namespace slimbayes {

/// Returns text of foreign origin (names, labels, paths, cells, the contents of a file) as one line that is
/// safe to show to a person: UTF-8 without characters that control a terminal or change the direction of the
/// text. Tabs and newlines become blanks. Other control characters (C0, C1, DEL), the marks, embeddings,
/// overrides and isolates of bidirectional text, line separators and bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view foreign);

/// As printable(), but for text of several lines: keeps newlines and tabs.
std::string printable_lines(std::string_view text);

/// Returns foreign text for an exception or a note of the library, so that no part of it reads as an option
/// token (catalog/option_tokens.h): each run of backticks before a dot gets one backtick more, which
/// render_options() removes. Other text stays as it is. Pass each foreign text in a message through it
/// exactly once; in_quotes() and DataError do so with their arguments.
std::string foreign_text(std::string_view foreign);

}  // namespace slimbayes
