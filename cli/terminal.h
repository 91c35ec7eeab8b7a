#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// Columns of the terminal that this file descriptor writes to, asked anew at each call: COLUMNS, else what
/// the terminal says, else 80. Nothing where it writes to no terminal.
std::optional<size_t> terminal_width(int stream);

/// The columns that help and descriptions fill: those of the terminal on stdout, at most 100; 100 off a
/// terminal.
size_t text_width();

/// Columns that a line of UTF-8 takes on a terminal: two for a wide character, none for an accent of its own.
size_t display_width(std::string_view line);

/// Text of foreign origin (names, labels, paths, cells, the contents of a file) as a person may see it: one
/// line of UTF-8 without characters that command a terminal or reorder what is around them. Blanks of any
/// kind become a blank; other control characters (C0, C1, DEL), bidirectional overrides, separators of lines
/// and bytes that are no UTF-8 become U+FFFD.
std::string shown(std::string_view foreign);

/// The same of a text of several lines: line ends and tabs stay.
std::string shown_lines(std::string_view text);

/// Data on this stream: as they are, so that a program can read them; on a terminal as shown_lines().
std::string data_for(int stream, std::string data);

/// The text with its longer lines broken at blanks, so that none is wider than `width`; what goes on is
/// indented by `hang` more than its line. Lines that fit stay as they are, and so does a word that is wider
/// than a line. `mark` stands at the end of a line that goes on.
std::string wrapped(const std::string& text, size_t width, size_t hang = 0, const std::string& mark = "");

/// Lines for a person on this stream: as shown_lines(), wrapped on a terminal.
std::string fitted_to(int stream, const std::string& line);

}  // namespace slimbayes::cli
