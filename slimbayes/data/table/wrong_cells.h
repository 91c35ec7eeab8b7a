#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slimbayes {

/// What a user can do about the wrong cells of one column or several.
struct Remedies {
  std::vector<std::string> marks = {};  // texts that seem to mark a missing cell: for --na
  std::string with_unit = "";           // the first number with a unit, such as '144 km'
  std::string dressed = "";             // the first number in another notation, such as '$1,500'
  std::string to_correct = "";          // the advice for the other wrong cells; "" if there are none
  std::vector<std::string> names = {};  // columns that --categorical can take as names

  void add(const Remedies& other);
  /// Returns the advice in one line, its parts separated by semicolons.
  std::string text() const;
};

/// Reports cells that make a column unreadable; the reader adds file, line and column. what() is the fault
/// and its advice.
struct BadCell : std::runtime_error {
  BadCell(int64_t first_row, std::string what_is_wrong, Remedies what_to_do)
      : std::runtime_error(what_is_wrong + "; " + what_to_do.text()),
        row(first_row),
        fault(std::move(what_is_wrong)),
        remedies(std::move(what_to_do)) {}
  int64_t row;        // of the first wrong cell, index from 0
  std::string fault;  // "expected ...; received ..."
  Remedies remedies;
};

/// What the cells of a column are expected to be.
struct Expected {
  std::string_view what;       // in the message, such as "numbers"
  bool as_most_cells = false;  // the kind was inferred from most cells of the column; else it was known
  std::function<bool(std::string_view cell)> holds;  // whether a trimmed cell that is not missing is valid
  bool numbers = false;  // the cells are numbers, so that a wrong one may have a unit or another notation
};

/// Returns the report on all wrong cells of a column: how many of the present cells they are, and the first
/// rows of up to three different texts. At least one cell must be wrong.
BadCell wrong_cells(const std::string& column, std::span<const std::string_view> cells,
                    const Expected& expected);

/// Returns one line on all these columns: the fault of each, then the advice for all. Faults beyond the
/// eighth column are only counted.
std::string joined(const std::vector<BadCell>& columns);

}  // namespace slimbayes
