#pragma once

#include <span>
#include <string>
#include <variant>

#include "cli/request.h"

namespace slimbayes::cli {

/// A command whose answer is already known when the command line has been parsed.
struct ShowText {
  std::string text;  // help, version, or the settings that fit --dry-run shows
};
/// The command `methods`, which lists all methods.
struct ListMethods {
  bool json = false;
};
/// The command `describe`, which explains a method or a model file.
struct Describe {
  std::string name;  // a method or a model file; empty: list the methods
  bool json = false;
};

/// What the command line asks for: an answer that needs no tensors, or a request to the engine.
using Command = std::variant<ShowText, ListMethods, Describe, Request>;

/// Parses the command line `words` (without the program's name). Throws std::invalid_argument for a wrong
/// command line. For an unknown command, flag or method, the message suggests the nearest name.
Command parse_arguments(const std::vector<std::string>& words);

}  // namespace slimbayes::cli
