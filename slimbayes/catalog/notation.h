#pragma once

#include <string>
#include <string_view>

#include "slimbayes/export.h"

namespace slimbayes {

struct FitOptions;

/// How the text of a file spells numbers and dates, where it is not as 13000.5 and 2014-12-31. Plain data:
/// FitOptions has the same fields, and check_columns() their limits.
struct Notation {
  std::string thousands = "";  // sign between groups of three digits: "", ",", ".", " " or "'"
  std::string decimal = ".";   // "." or ","
  /// Fields of strptime, such as "%d.%m.%Y": a cell of this format is a date too; "": ISO 8601 alone.
  std::string date_format = "";

  /// Whether numbers are spelled as parse_number() reads them.
  bool plain_numbers() const { return thousands.empty() && decimal == "."; }
};

/// Returns the notation that these options name.
SLIMBAYES_EXPORT Notation notation_of(const FitOptions& options);

/// Returns what is wrong with a format of dates, in words, or "". It must have a year (%Y, or %y of two
/// digits) and a month (%m, or its English name %b), and may have a day (%d), a time of day (%H or %I with
/// %p, %M, %S) and %%, each field once.
SLIMBAYES_EXPORT std::string fault_of_date_format(std::string_view format);

}  // namespace slimbayes
