#pragma once

#include <span>
#include <string>
#include <variant>

#include "cli/request.h"

namespace slimbayes::cli {

/// A command that only prints a text.
struct ShowText {
  std::string text;  // help, version, or the recipe of a fit
};
/// The command `methods`.
struct ListMethods {
  bool json = false;
};
/// The command `describe`.
struct Describe {
  std::string name;  // a method or a model file
  bool json = false;
};

/// The parsed command line.
using Command = std::variant<ShowText, ListMethods, Describe, Request>;

/// Reads the command line (without the program's name). Throws std::invalid_argument with one sentence. For
/// an unknown command, flag or method, the sentence suggests the nearest name.
Command parse_arguments(const std::vector<std::string>& words);

}  // namespace slimbayes::cli
