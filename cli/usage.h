#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes::cli {

// Checks of the values of flags. The messages read "expected ...; received ..."; `what` is a noun with its
// article, such as "a probability".

/// A number from `low` to `high`; `high` itself is excluded.
CLI::Validator between(const std::string& what, double low, double high, bool low_included);

/// A whole number from `low` to `high`, both included.
CLI::Validator whole(const std::string& what, uint64_t low, uint64_t high);

/// One of these words.
CLI::Validator one_of(const std::vector<std::string>& words);

/// A number of bytes such as 500M or 8G, converted to a plain number.
CLI::Validator byte_size();

/// Returns a positional argument as a usage line shows it: "MODEL", or "MODEL MODEL..." for two or more.
std::string form_of(const CLI::Option& positional);

/// Returns one sentence for a command line that CLI11 refuses: what the command `app` expects, what it
/// received, and where its help is.
std::string usage_text(const CLI::ParseError& error, const CLI::App& app);

}  // namespace slimbayes::cli
