#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace slimbayes::cli {

/// Returns a formatter that fits CLI11's help to the width of the terminal (text_width()). Long lines wrap at
/// blanks. In a wrapped example command, each line but the last ends in a backslash.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace slimbayes::cli
