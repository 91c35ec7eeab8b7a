#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace slimbayes::cli {

/// Returns a formatter that fits CLI11's help to the width of the terminal (text_width()). Long lines wrap at
/// blanks; an example command that wraps gets a backslash at the end of each line but the last.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace slimbayes::cli
