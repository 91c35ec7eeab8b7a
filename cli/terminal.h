#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slimbayes::cli {

/// Returns the columns of the terminal that this file descriptor writes to, determined anew at each call: the
/// environment variable COLUMNS, else what the terminal reports, else 80. Returns nullopt if the descriptor
/// is not a terminal.
std::optional<size_t> terminal_width(int stream);

/// Returns the columns that help and descriptions fill: those of the terminal on stdout, at most 100. It is
/// 100 if stdout is not a terminal.
size_t text_width();

/// Returns the columns that a line of UTF-8 takes on a terminal: two for a wide character, none for a
/// combining accent.
size_t display_width(std::string_view line);

/// Makes text of foreign origin (names, labels, paths, cells, the contents of a file) safe to show: returns
/// one line of UTF-8 without characters that control a terminal or reorder the text around them. Tabs and
/// line ends become a blank. Other control characters (C0, C1, DEL), bidirectional overrides, line separators
/// and bytes that are not UTF-8 become U+FFFD.
std::string shown(std::string_view foreign);

/// As shown(), for a text of several lines: line ends and tabs stay.
std::string shown_lines(std::string_view text);

/// Returns a message of the library without the names of its functions: "[Encoder::fit] expected ..." becomes
/// "expected ...", also after the name of a file ("m.safetensors: [load] expected ...").
std::string without_functions(std::string_view message);

/// Returns data to write on this stream: unchanged, so that a program can read them, but as shown_lines() on
/// a terminal.
std::string data_for(int stream, std::string data);

/// Breaks lines that are wider than `width` at blanks. Each continuation is indented by `hang` more than the
/// line it continues, and `mark` stands at the end of a line that is continued. Lines that fit stay
/// unchanged, and so does a word that is wider than a line.
std::string wrapped(const std::string& text, size_t width, size_t hang = 0, const std::string& mark = "");

/// Returns lines for a person on this stream: as shown_lines(), and wrapped on a terminal.
std::string fitted_to(int stream, const std::string& line);

}  // namespace slimbayes::cli
