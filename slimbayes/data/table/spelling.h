#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

struct FitOptions;

// Cells whose numbers and dates are not spelled as 13000.5 and 2014-12-31 (Reading::notation). The functions
// of the same names in cell.h read the spelling that needs no option.

/// Returns the notation that these options name.
Notation notation_of(const FitOptions& options);

/// Returns the number of the cell in the spelling of parse_number(): 1234.5 for 1.234,5, by the file's
/// notation. Returns "" for digits in wrong groups (1.23,4), for a zero before a separator (0.123), and for
/// any sign that the notation has no use for. Other texts without such signs stay as they are. The result may
/// lie in `memory`, or in the cell.
std::string_view plain_number(std::string_view cell, const Notation& notation, std::string& memory);

/// As parse_number(), in this notation.
std::optional<double> parse_number(std::string_view cell, const Notation& notation);

/// As parse_datetime(), for a time of this notation's date format or in ISO 8601. A cell in ISO 8601 is none
/// if the format reads such cells as another day, as %Y-%d-%m does. A year %Y has four digits, a month
/// without a day begins on its first, and a time of the format has no offset from UTC.
std::optional<double> parse_datetime(std::string_view cell, const Notation& notation);

/// Returns the character between the columns of a .csv (Notation::separator).
char separator_of_csv(const Notation& notation);

/// Returns the number of characters of a date in this notation if its format has no sign between the fields,
/// or one point or comma, as %Y%m%d and %m.%Y; else 0. Such dates look like numbers, so each must have all
/// its digits.
size_t size_of_dates(const Notation& notation);

/// As is_mark(), for a cell and marks in this notation.
bool is_mark(std::string_view cell, std::span<const std::string> marks, const Notation& notation);

/// Returns what a message expects: "numbers", or "numbers such as 1.234,5".
std::string numbers_text(const Notation& notation);

/// Returns what a message expects: ISO dates, or those of the date format.
std::string times_text(const Notation& notation);

/// Returns the first of these texts that is a number as parse_number(cell) reads it but none in this
/// notation, if all texts are numbers so, as 0.5 where the decimal sign is a comma; else "".
std::string lost_number(std::span<const std::string> texts, const Notation& notation);

/// Returns the options of numbers that differ from their defaults: "`.thousands=.` `.decimal=,`".
std::string options_text(const Notation& notation);

/// Recognises a column of numbers in which points probably separate thousands, as 4.757 does in German. All
/// of these must hold:
/// - Ten cells at least have a point. Each such has one to three digits before it, the first of them no zero,
///   and exactly three behind it.
/// - All other cells are whole numbers of at most three digits: 4757 beside 4.757 would have a point too.
/// - Either there are such whole numbers (three fixed decimals would be written as 850.000, and decimals
///   without ending zeros would not all be three), or at least three and a fifth of the cells with a point
/// end   in 00, of which a hundredth would by chance, and some in another digit than 0 and 5.
class PerhapsGroups {
 public:
  /// Adds a number as parse_number(cell) reads it.
  void add(std::string_view number) {
    if (fits_) add_fitting(number);
  }
  /// Returns the first number with a point if the column is such a one; else "".
  std::string example() const;

 private:
  void add_fitting(std::string_view number);
  bool fits_ = true;
  int64_t pointed_ = 0, whole_ = 0, round_ = 0, odd_ = 0;
  std::string first_;
};

/// Returns advice on the options that read at least half of these texts as numbers, the first of which could
/// not be read without them; "" if none do. Example: "in a text file, fit `.thousands=,` reads '1,500' as
/// 1500, `.decimal=,` as 1.5".
std::string notation_advice(std::span<const std::string> texts);

}  // namespace slimbayes
