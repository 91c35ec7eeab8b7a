#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/option.h"

namespace slimbayes::cli {

// Checks of the values of flags, for CLI11. A value that fails gives the message "expected ...; received
// ...", in which `what` is a noun with its article, such as "a probability".

/// Accepts a number within the bounds of this description; for an integer, no negative one.
CLI::Validator within(const std::string& what, const OptionDoc& doc);

/// Accepts what the description of an option of the struct O allows.
template <class O>
CLI::Validator within(const std::string& what, const char* option) {
  return within(what, option_doc<O>(option));
}

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
