#pragma once

#include <span>
#include <string>
#include <variant>

#include "cli/request.h"

namespace slimbayes::cli {

struct ShowText {
  std::string text;  // help, version, or the recipe of a fit
};
struct ListMethods {
  bool json = false;
};
struct Describe {
  std::string name;  // a method or a model file
  bool json = false;
};

using Command = std::variant<ShowText, ListMethods, Describe, Request>;

/// Reads the command line (without the program's name). Throws std::invalid_argument with one sentence; an
/// unknown command, flag or method is answered with the nearest name.
Command parse_arguments(const std::vector<std::string>& words);

}  // namespace slimbayes::cli
