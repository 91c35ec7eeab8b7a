#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// Columns of the terminal that this file descriptor writes to, asked anew at each call: COLUMNS, else what the terminal
/// says, else 80. Nothing where it writes to no terminal.
std::optional<size_t> terminal_width(int stream);

/// The columns that help and descriptions fill: those of the terminal on stdout, at most 100; 100 off a terminal.
size_t text_width();

/// Columns that a line of UTF-8 takes on a terminal: two for a wide character, none for an accent of its own.
size_t display_width(std::string_view line);

/// The text with its longer lines broken at blanks, so that none is wider than `width`; what goes on is indented by `hang`
/// more than its line. Lines that fit stay as they are, and so does a word that is wider than a line. `mark` stands at the
/// end of a line that goes on.
std::string wrapped(const std::string& text, size_t width, size_t hang = 0, const std::string& mark = "");

/// A line for a person on this stream: wrapped on a terminal, else as it is.
std::string fitted_to(int stream, const std::string& line);

}  // namespace slimbayes::cli
