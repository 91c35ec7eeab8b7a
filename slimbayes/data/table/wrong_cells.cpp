// Makes one message of what is wrong with the cells of a table's columns and what the user can do about it.
//
// If a message named only the first wrong cell, the user would have to run the program again for each wrong
// cell. So the wrong cells of all columns are counted, and each different text among them is classified: a
// number with a unit, a number in another notation, a text that means a missing cell (here called a mark), or
// none of these. The class decides the advice. No cell is converted.
#include "slimbayes/data/table/wrong_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"
#include "slimbayes/data/table/spelling.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

constexpr size_t kExamples = 3;   // most wrong texts of a column that a message shows
constexpr size_t kTexts = 1000;   // most wrong texts of a column that are classified; others only count
constexpr size_t kColumns = 8;    // most columns whose faults a message describes
constexpr size_t kMostMarks = 5;  // with more texts without a digit, none of them is taken for a mark

constexpr const char* kCorrect = "correct the cell, or leave it empty if it is missing";

/// One of the different texts among the wrong cells of a column.
struct WrongText {
  std::string_view text;
  int64_t row;        // first row with this text, from 0
  int64_t cells = 1;  // how many cells have it
};

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns whether files often use this text for a missing cell although is_missing() does not accept it:
/// signs such as - and ..., an error of a spreadsheet (#REF!), or a word such as unknown.
bool is_usual_mark(std::string_view text) {
  static constexpr std::array<std::string_view, 12> words = {
      "na", "n.a.", "n.d.", "nd", "nil", "none", "missing", "unknown", "null", "undefined", "empty", "void"};
  if (text.find_first_not_of("-.*_/#?+") == std::string_view::npos || text.starts_with('#')) return true;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(words, lower) != words.end();
}

bool is_dressed(std::string_view text) {
  const std::array<std::string, 1> level = {std::string(text)};
  return meant_as(level, 1).as == "numbers";
}

/// Returns the different texts of the wrong cells in order of first appearance, at most kTexts. Sets `wrong`
/// to the number of wrong cells and `present` to the number of cells that are not missing.
std::vector<WrongText> texts_of(std::span<const std::string_view> cells, const Expected& expected,
                                int64_t& wrong, int64_t& present) {
  std::vector<WrongText> texts;
  std::unordered_map<std::string_view, size_t> index;
  wrong = present = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = trimmed(cells[i]);
    if (is_missing(cell)) continue;
    ++present;
    if (expected.holds(cell)) continue;
    ++wrong;
    if (const auto found = index.find(cell); found != index.end()) {
      ++texts[found->second].cells;
    } else if (texts.size() < kTexts) {
      index.emplace(cell, texts.size());
      texts.push_back({cell, static_cast<int64_t>(i)});
    }
  }
  return texts;
}

Remedies remedies_for(const std::string& column, const std::vector<WrongText>& texts,
                      const Expected& expected) {
  Remedies out;
  const auto is_plain = [](const WrongText& t) { return !has_digit(t.text); };
  // Missing cells of one column usually have one or two texts, each in many cells. If many different words
  // are among the wrong cells, they are probably data.
  const bool few = std::ranges::count_if(texts, is_plain) <= static_cast<int64_t>(kMostMarks);
  for (const WrongText& t : texts) {
    const bool repeated = t.cells > 1 && is_plain(t);
    if (few && can_be_mark(t.text) && (is_usual_mark(t.text) || repeated))
      out.marks.emplace_back(t.text);
    else if (!unit_of(t.text).empty() && expected.numbers)
      out.with_unit = out.with_unit.empty() ? t.text : out.with_unit;
    else if (is_dressed(t.text) && expected.numbers)
      out.dressed = out.dressed.empty() ? t.text : out.dressed;
    else
      out.to_correct = kCorrect;
  }
  // The kind of the column is known at prediction. There --na is no remedy, since a model reads new data as
  // it read the training data. So the message also advises to correct the cells.
  if (!expected.as_most_cells && !out.marks.empty()) out.to_correct = kCorrect;
  if (expected.as_most_cells) out.names = {column};
  return out;
}

std::string_view without_unit(std::string_view cell) {
  return trimmed(cell.substr(0, cell.size() - unit_of(cell).size()));
}

void add_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(text);
  }
}

/// Returns texts of the table for a message, comma-separated.
std::string joined(const std::vector<std::string>& texts) {
  return foreign_text(fmt::format("{}", fmt::join(texts, ",")));
}

}  // namespace

void Remedies::add(const Remedies& other) {
  add_new(marks, other.marks);
  add_new(names, other.names);
  if (with_unit.empty()) with_unit = other.with_unit;
  if (dressed.empty()) dressed = other.dressed;
  if (to_correct.empty()) to_correct = other.to_correct;
}

std::string Remedies::text() const {
  std::vector<std::string> parts;
  if (!to_correct.empty()) parts.push_back(to_correct);
  if (!with_unit.empty())
    parts.push_back(fmt::format("write numbers without their unit, {} as {}", in_quotes(with_unit),
                                foreign_text(without_unit(with_unit))));
  if (!dressed.empty())
    parts.push_back(fmt::format("write numbers such as {} by digits and a decimal point alone, as in 13000.5",
                                in_quotes(dressed)));
  const std::string advice = notation_advice(std::span(&dressed, 1));
  if (!advice.empty()) parts.push_back(advice);
  if (!marks.empty())
    parts.push_back(fmt::format("fit `.na` '{}' reads such cells as missing", joined(marks)));
  if (!names.empty())
    parts.push_back(fmt::format("`.categorical` '{}' takes {} as names", joined(names),
                                names.size() == 1 ? "the whole column" : "whole columns"));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Fault::text(int64_t rows_before) const {
  std::string out = begin;
  for (size_t i = 0; i < texts.size(); ++i)
    out += fmt::format("{}{} ({}{})", i == 0 ? "" : ", ", texts[i].first, i == 0 ? "data row " : "",
                       rows_before + texts[i].second + 1);
  return out + fmt::format("{}: {} of {} cells{}", more ? ", ..." : "", wrong, present,
                           rows_before > 0 ? " of this part of the file" : "");
}

BadCell wrong_cells(const std::string& column, std::span<const std::string_view> cells,
                    const Expected& expected) {
  int64_t wrong = 0, present = 0;
  const std::vector<WrongText> texts = texts_of(cells, expected, wrong, present);
  Fault fault{fmt::format("expected {} in column {}{}; received ", expected.what, in_quotes(column),
                          expected.as_most_cells ? ", as in most of its cells" : ""),
              {},
              texts.size() > kExamples,
              wrong,
              present};
  for (size_t i = 0; i < std::min(texts.size(), kExamples); ++i)
    fault.texts.emplace_back(in_quotes(texts[i].text), texts[i].row);
  Remedies remedies = remedies_for(column, texts, expected);
  // A repeated word marks missing cells only if other cells are valid. If no cell of the column is valid,
  // only the usual marks stay.
  const auto is_odd = [](const std::string& mark) { return !is_usual_mark(mark); };
  if (wrong == present && std::erase_if(remedies.marks, is_odd) > 0) remedies.to_correct = kCorrect;
  return {std::move(fault), std::move(remedies)};
}

std::string joined(const std::vector<BadCell>& columns, int64_t rows_before) {
  std::vector<std::string> parts;
  Remedies remedies;
  for (const BadCell& bad : columns) {
    if (parts.size() < kColumns) parts.push_back(bad.fault.text(rows_before));
    remedies.add(bad.remedies);
  }
  if (columns.size() > kColumns)
    parts.push_back("and more in " + counted(std::ssize(columns) - std::ssize(parts), "further column"));
  parts.push_back(remedies.text());
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace slimbayes
