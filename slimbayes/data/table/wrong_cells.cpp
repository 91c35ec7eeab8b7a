// Makes one message of what is wrong with the cells of a table's columns and what the user can do.
//
// If a message named only the first wrong cell, a user would need one run for each of them. So the wrong
// cells of all columns are counted, and each different text is classified by how it looks: a number with a
// unit, a number in another notation, a mark of a missing cell, or none of these. Nothing is converted.
#include "slimbayes/data/table/wrong_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/table/looks.h"

namespace slimbayes {
namespace {

constexpr size_t kExamples = 3;   // different texts that a message shows of a column
constexpr size_t kTexts = 1000;   // most different texts that are judged; later ones are counted alone
constexpr size_t kColumns = 8;    // most columns whose faults a message has
constexpr size_t kMostMarks = 5;  // different texts with which a column may plausibly mark missing cells

constexpr const char* kCorrect = "correct the cell, or leave it empty if it is missing";

/// One of the different texts among the wrong cells.
struct WrongText {
  std::string_view text;
  int64_t row;  // the first with it
  int64_t cells = 1;
};

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns whether data often use the text for a missing cell, in addition to the texts of is_missing: signs
/// such as - and ..., an error of a spreadsheet (#REF!), or a word such as unknown.
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

/// Returns the wrong cells by their text, in order of first appearance, and their number.
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
  // A column marks missing cells with one or two texts, which occur often; many different words are not
  // marks.
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
  // At prediction --na is no remedy: a model reads its data as the training data were read.
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
                                without_unit(with_unit)));
  if (!dressed.empty())
    parts.push_back(fmt::format("write numbers such as {} by digits and a decimal point alone, as in 13000.5",
                                in_quotes(dressed)));
  if (!marks.empty())
    parts.push_back(fmt::format("fit --na '{}' reads such cells as missing", fmt::join(marks, ",")));
  if (!names.empty())
    parts.push_back(fmt::format("--categorical '{}' takes {} as names", fmt::join(names, ","),
                                names.size() == 1 ? "the whole column" : "whole columns"));
  return fmt::format("{}", fmt::join(parts, "; "));
}

BadCell wrong_cells(const std::string& column, std::span<const std::string_view> cells,
                    const Expected& expected) {
  int64_t wrong = 0, present = 0;
  const std::vector<WrongText> texts = texts_of(cells, expected, wrong, present);
  std::string examples;
  for (size_t i = 0; i < std::min(texts.size(), kExamples); ++i)
    examples += fmt::format("{}{} ({}{})", i == 0 ? "" : ", ", in_quotes(texts[i].text),
                            i == 0 ? "data row " : "", texts[i].row + 1);
  const std::string fault =
      fmt::format("expected {} in column {}{}; received {}{}: {} of {} cells", expected.what,
                  in_quotes(column), expected.as_most_cells ? ", as in most of its cells" : "", examples,
                  texts.size() > kExamples ? ", ..." : "", wrong, present);
  Remedies remedies = remedies_for(column, texts, expected);
  // Marks occur among valid cells. If no cell of the column is valid, only the usual marks count as marks.
  const auto is_odd = [](const std::string& mark) { return !is_usual_mark(mark); };
  if (wrong == present && std::erase_if(remedies.marks, is_odd) > 0) remedies.to_correct = kCorrect;
  return {texts.at(0).row, fault, std::move(remedies)};
}

std::string joined(const std::vector<BadCell>& columns) {
  std::vector<std::string> parts;
  Remedies remedies;
  for (const BadCell& bad : columns) {
    if (parts.size() < kColumns) parts.push_back(bad.fault);
    remedies.add(bad.remedies);
  }
  if (columns.size() > kColumns)
    parts.push_back("and more in " + counted(std::ssize(columns) - std::ssize(parts), "further column"));
  parts.push_back(remedies.text());
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace slimbayes
