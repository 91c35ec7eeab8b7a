#pragma once

#include <string>

#include "slimbayes/export.h"

namespace slimbayes {

struct FitOptions;

/// How the text of a file spells numbers, where it is not as 13000.5. Plain data: FitOptions has the same
/// fields, and check_columns() their limits.
struct Notation {
  std::string thousands = "";  // sign between groups of three digits: "", ",", ".", " " or "'"
  std::string decimal = ".";   // "." or ","

  /// Whether numbers are spelled as parse_number() reads them.
  bool plain_numbers() const { return thousands.empty() && decimal == "."; }
};

/// Returns the notation that these options name.
SLIMBAYES_EXPORT Notation notation_of(const FitOptions& options);

}  // namespace slimbayes
