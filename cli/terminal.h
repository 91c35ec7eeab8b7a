#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// Returns the width in columns of the terminal behind this file descriptor: the environment variable
/// COLUMNS, else the width that the terminal reports, else 80. It is looked up at each call, because the
/// window may change. Returns nullopt if the descriptor is not a terminal.
std::optional<size_t> terminal_width(int stream);

/// Returns the width of help and descriptions in columns: the width of the terminal on stdout, at most 100.
/// Without a terminal it is 100.
size_t text_width();

/// Returns the number of columns of a UTF-8 line on a terminal: two for a wide character, none for a
/// combining accent.
size_t display_width(std::string_view line);

/// Returns text of foreign origin (names, labels, paths, cells, the contents of a file) as one line that is
/// safe to print (printable).
std::string shown(std::string_view foreign);

/// As shown(), but for text of several lines: keeps newlines and tabs.
std::string shown_lines(std::string_view text);

/// Returns data as they should be written to this stream: on a terminal as shown_lines() returns them, else
/// unchanged, so that a program can read them.
std::string data_for(int stream, std::string data);

/// Returns the text with lines wider than `width` wrapped at blanks. A continuation line is indented by
/// `hang` more than the line that it continues, which ends in `mark`. Lines that fit and words that are wider
/// than a line stay unchanged.
std::string wrapped(const std::string& text, size_t width, size_t hang = 0, const std::string& mark = "");

/// Returns text for a person who reads this stream: made safe by shown_lines() and, on a terminal, wrapped to
/// its width.
std::string fitted_to(int stream, const std::string& line);

}  // namespace slimbayes::cli
