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

/// What a message advises the user to do about the wrong cells of one or more columns.
struct Remedies {
  std::vector<std::string> marks = {};  // texts that seem to mean a missing cell; --na can declare them
  std::string with_unit = "";           // the first number with a unit, such as '144 km'
  std::string dressed = "";             // the first number in another notation, such as '$1,500'
  std::string to_correct = "";          // advice for all other wrong cells; "" if there are none
  std::vector<std::string> names = {};  // columns that --categorical could make categories

  /// Adds the advice for further columns. Of each example, such as with_unit, the first one stays.
  void add(const Remedies& other);
  /// Returns the advice in one line, its parts separated by semicolons.
  std::string text() const;
};

/// What is wrong with the cells of a column.
struct Fault {
  std::string begin;                                   // "expected ...; received "
  std::vector<std::pair<std::string, int64_t>> texts;  // some wrong texts, in quotes, and their first rows
  bool more;                                           // whether there are others
  int64_t wrong, present;                              // cells

  /// Returns the sentence. The column begins after so many rows of its file.
  std::string text(int64_t rows_before = 0) const;
};

/// Thrown for cells that make a column unreadable. what() says the fault and the advice. The reader of the
/// file catches it and throws a DataError with file, line and column.
struct BadCell : std::runtime_error {
  BadCell(Fault what_is_wrong, Remedies what_to_do)
      : std::runtime_error(what_is_wrong.text() + "; " + what_to_do.text()),
        row(what_is_wrong.texts.at(0).second),
        fault(std::move(what_is_wrong)),
        remedies(std::move(what_to_do)) {}
  int64_t row;  // row of the first wrong cell, from 0
  Fault fault;
  Remedies remedies;
};

/// What the cells of a column are expected to be, for the report of wrong_cells().
struct Expected {
  std::string_view what;       // words for the message, such as "numbers"
  bool as_most_cells = false;  // true: most cells of the column are so; false: it was known before
  std::function<bool(std::string_view cell)> holds;  // whether a cell (trimmed, not missing) is valid
  bool numbers = false;  // numbers are expected: advise on units and other notations
};

/// Returns the report on all cells of a column that are neither missing nor as expected. It says how many
/// they are, how many cells are not missing, and for up to three different wrong texts the first row. At
/// least one cell must be wrong.
BadCell wrong_cells(const std::string& column, std::span<const std::string_view> cells,
                    const Expected& expected);

/// Joins the reports on several columns into one line: the fault of each column, then the advice for all.
/// After the eighth column, columns are only counted. The columns begin after so many rows of their file.
std::string joined(const std::vector<BadCell>& columns, int64_t rows_before = 0);

}  // namespace slimbayes
