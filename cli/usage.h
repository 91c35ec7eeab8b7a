#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace slimbayes::cli {

// Checks of the values of flags, for CLI11. A value that fails gives the message "expected ...; received
// ...", in which `what` is a noun with its article, such as "a probability".

/// Accepts a number from `low` to `high`. `high` is excluded; `low` is allowed only if `low_included`.
CLI::Validator between(const std::string& what, double low, double high, bool low_included);

/// Accepts a whole number from `low` to `high`, both included.
CLI::Validator whole(const std::string& what, uint64_t low, uint64_t high);

/// Accepts one of these words; for another word, the message suggests the nearest one.
CLI::Validator one_of(const std::vector<std::string>& words);

/// Accepts a size such as 500M or 8G, and replaces it by the number of bytes.
CLI::Validator byte_size();

/// Returns the name of a positional argument as help shows it: "MODEL", or "MODEL MODEL..." if two or more
/// values are expected.
std::string form_of(const CLI::Option& positional);

/// Returns one sentence on an error of CLI11 for a wrong command line: what the command `app` expects, what
/// it received, and where its help is.
std::string usage_text(const CLI::ParseError& error, const CLI::App& app);

}  // namespace slimbayes::cli
