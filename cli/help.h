#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace slimbayes::cli {

/// CLI11's help within the columns of the terminal (text_width()): words wrap, a command goes on behind a
/// backslash.
std::shared_ptr<CLI::Formatter> help_formatter();

}  // namespace slimbayes::cli
