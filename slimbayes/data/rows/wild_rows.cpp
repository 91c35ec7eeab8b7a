// Chooses the rows with wrong cells that a fit leaves out.
//
// Problem     A fit squares its errors: a single target of 1e12 moves every answer, and a single input of
//             1e12 makes the others indistinguishable.
// Model       With a small probability a cell is replaced by a number that says nothing of the row. The
//             likelihood of such a row is that of the replacement alone, so that it has no part in the fit of
//             the others: maximum likelihood leaves the row out, and counts it in the probability.
//             (`auto` gives its answers a heavy tail with this probability, methods/portfolio/tempering.)
// Evidence    That the column alone would not make the cell (wild_cells), and that the rest of the row does
//             not either (contrast_p). A single cell can only be judged by the first.
// Whole rows  Not single cells are left out, for what is left of the row would need another model: of an
//             answer without this input. There are few such rows, and the fit is that of the table without
//             them.
// Inputs      must jump by a factor of 100, targets by 10: an input that is far out does less harm, and rows
//             like it may come again.
#include "slimbayes/data/rows/wild_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "slimbayes/data/rows/contrast.h"
#include "slimbayes/data/rows/wild_cells.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/encoding/notes/column_note.h"
#include "slimbayes/encoding/row_numbers.h"
#include "slimbayes/encoding/target.h"
#include "slimbayes/encoding/target_cells.h"

namespace slimbayes {

namespace {

constexpr double kLeastTargetJump = 10, kLeastInputJump = 100;
constexpr double kExplained = 1e-3;      // largest probability of a contrast that explains wild cells
constexpr double kMostInputShare = 0.1;  // of the rows that inputs may leave out

/// The wild cells of a column. `places` are indices into the rows of the fit.
struct WildColumn {
  const Column* column;
  std::vector<int64_t> places = {};
  std::string fitted = {};  // why the rows are fitted all the same; "" if they are left out
};

/// The cells of a column in the rows of the fit. [n]
std::vector<double> cells_in(const Column& column, const std::vector<int64_t>& rows) {
  std::vector<double> cells;
  for (const int64_t row : rows) cells.push_back(column.values[static_cast<size_t>(row)]);
  return cells;
}

/// Features that may explain wild cells: for a column of numbers its ranks and their squares, for one of
/// categories each of up to 64 levels.
class Features {
 public:
  explicit Features(const std::vector<int64_t>& rows) : rows_(rows) {}

  /// Adds a column, whose cells at the places `without` say nothing.
  void add(const Column& column, std::vector<int64_t> without) {
    constexpr size_t kMostLevels = 64;
    columns_.push_back({&column, std::move(without)});
    const bool names = column.kind == ColumnKind::categorical;
    const size_t count = names ? std::min(column.levels.size(), kMostLevels) : 2;
    for (size_t i = 0; i < count; ++i) features_.push_back({columns_.size() - 1, i});
  }

  size_t count() const { return features_.size(); }

  /// Returns feature i. [n]
  std::vector<double> operator()(size_t i) const {
    const auto [at, part] = features_[i];
    const auto& [column, without] = columns_[at];
    std::vector<double> cells = cells_in(*column, rows_);
    if (column->kind == ColumnKind::categorical) {
      for (double& cell : cells) cell = cell == static_cast<double>(part) ? 1 : 0;
      return unit(std::move(cells));
    }
    for (const int64_t place : without) cells[static_cast<size_t>(place)] = kMissing;
    std::vector<double> ranks = unit_ranks(cells);
    if (part == 0) return ranks;
    for (double& rank : ranks) rank *= rank;
    return unit(std::move(ranks));
  }

 private:
  static std::vector<double> unit(std::vector<double> x) {
    const auto n = static_cast<double>(x.size());
    double mean = 0, square = 0;
    for (const double value : x) mean += value / n;
    for (double& value : x) value -= mean;
    for (const double value : x) square += value * value / n;
    const double sd = square > 1e-20 ? std::sqrt(square) : 1;
    for (double& value : x) value /= sd;
    return x;
  }

  const std::vector<int64_t>& rows_;
  std::vector<std::pair<const Column*, std::vector<int64_t>>> columns_;
  std::vector<std::pair<size_t, size_t>> features_;  // column, part of it
};

bool is_finite(const Column& column, const std::vector<int64_t>& rows) {
  return std::ranges::none_of(
      rows, [&](int64_t row) { return std::isinf(column.values[static_cast<size_t>(row)]); });
}

/// Returns the columns that are inputs and hold numbers or times.
std::vector<const Column*> number_inputs(const Table& table, const std::vector<int64_t>& rows,
                                         const std::vector<std::string>& not_inputs) {
  const std::vector<std::string> numbering = numbering_columns(table, not_inputs);
  std::vector<const Column*> inputs;
  for (const Column& column : table.columns) {
    const auto named = [&](const std::vector<std::string>& in) {
      return std::ranges::find(in, column.name) != in.end();
    };
    const bool number = column.kind == ColumnKind::numeric || column.kind == ColumnKind::datetime;
    if (number && !named(not_inputs) && !named(numbering) && !is_row_label(column.name) &&
        is_finite(column, rows))
      inputs.push_back(&column);
  }
  return inputs;
}

/// Returns why the wild cells are data, if these features explain them; else "".
std::string explained(const std::vector<int64_t>& places, const Features& features, size_t rows,
                      const char* by) {
  const double p = contrast_p(static_cast<int64_t>(rows), places, features.count(), features,
                              Stream(0).split("wild cells"));
  return p < kExplained
             ? fmt::format("{} {} from the others", by, places.size() > 1 ? "tells them" : "tells it")
             : "";
}

/// The wild cells of each input that has some.
std::vector<WildColumn> wild_inputs(const std::vector<const Column*>& inputs,
                                    const std::vector<int64_t>& rows, const Column& target,
                                    const std::vector<int64_t>& wild_targets) {
  std::vector<WildColumn> wild;
  std::set<int64_t> left_out;
  for (const Column* column : inputs) {
    WildColumn one{column, wild_cells(cells_in(*column, rows), kLeastInputJump)};
    if (one.places.empty()) continue;
    Features features(rows);
    features.add(target, wild_targets);
    one.fitted = explained(one.places, features, rows.size(), "the target");
    if (one.fitted.empty()) left_out.insert(one.places.begin(), one.places.end());
    wild.push_back(std::move(one));
  }
  if (static_cast<double>(left_out.size()) >
      std::max(1.0, kMostInputShare * static_cast<double>(rows.size())))
    for (WildColumn& one : wild)
      if (one.fitted.empty())
        one.fitted = fmt::format(
            "wild inputs are in {} of {} rows, too many for errors; `.na` reads such marks "
            "as missing",
            left_out.size(), rows.size());
  return wild;
}

/// Returns why these wild targets are data; else "".
std::string target_explained(const Table& table, const std::vector<int64_t>& rows, const Column& target,
                             const std::vector<int64_t>& places, const std::vector<std::string>& not_inputs,
                             const std::vector<WildColumn>& inputs, bool undecided) {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!std::ranges::binary_search(places, static_cast<int64_t>(i))) kept.push_back(rows[i]);
  Column rest = target;
  rest.values = cells_in(target, kept);
  if (undecided && two_whole_numbers(rest)) return "the others are two numbers";
  Features features(rows);
  for (const Column& column : table.columns) {
    if (std::ranges::find(not_inputs, column.name) != not_inputs.end() || is_row_label(column.name)) continue;
    const auto wild = std::ranges::find(inputs, &column, &WildColumn::column);
    features.add(column, wild == inputs.end() ? std::vector<int64_t>{} : wild->places);
  }
  return explained(places, features, rows.size(), "an input");
}

/// Keeps the rows of a class of which fewer than two would remain.
void keep_classes(const Column& target, const std::vector<int64_t>& rows, std::set<int64_t>& left_out) {
  std::map<double, int64_t> remain;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!left_out.contains(static_cast<int64_t>(i))) ++remain[target.values[static_cast<size_t>(rows[i])]];
  std::erase_if(left_out, [&](int64_t place) {
    const double cell = target.values[static_cast<size_t>(rows[static_cast<size_t>(place)])];
    return remain[cell] < 2;
  });
}

/// Returns the smallest and the largest cell beside the wild ones, "8.9 to 73.5".
std::string range_text(const WildColumn& wild, const std::vector<int64_t>& rows) {
  std::vector<double> cells = cells_in(*wild.column, rows);
  for (const int64_t place : wild.places) cells[static_cast<size_t>(place)] = kMissing;
  std::erase_if(cells, [](double x) { return std::isnan(x); });
  const auto [low, high] = std::ranges::minmax(cells);
  return cell_text(*wild.column, low) + " to " + cell_text(*wild.column, high);
}

ColumnNote note_on(const Table& table, const WildColumn& wild, const std::vector<int64_t>& rows,
                   bool target) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kNamed, wild.places.size()); ++i) {
    const int64_t row = rows[static_cast<size_t>(wild.places[i])];
    named.push_back(fmt::format("{} ({})",
                                cell_text(*wild.column, wild.column->values[static_cast<size_t>(row)]),
                                row_place(table, row)));
  }
  if (wild.places.size() > kNamed) named.push_back(fmt::format("and {} more", wild.places.size() - kNamed));
  const bool one = wild.places.size() == 1;
  const char* them = one ? "it" : "them";
  const std::string missing =
      target || wild.column->kind != ColumnKind::numeric
          ? ""
          : ", leave the cell empty if missing is meant (fit `.na` reads a number so, in every column)";
  const std::string what =
      fmt::format("{} far beyond the other cells, {}", one ? "lies" : "lie", range_text(wild, rows));
  const std::string done =
      wild.fitted.empty()
          ? fmt::format(
                "the fit leaves {} out as wrong: correct or remove {}{}, or take {} as right by "
                "`.wild_cells=keep`",
                one ? "the row" : "the rows", them, missing, them)
          : fmt::format("fitted as right, because {}", wild.fitted);
  return {
      ColumnNoteKind::odd, wild.column->name,
      fmt::format("{} {}: {} {}: {}", target ? "the target" : "column", in_quotes(wild.column->name),
                  fmt::join(named, ", "), what, done),
      target || !wild.fitted.empty()
          ? ""
          : "have cells far beyond the others: the fit leaves their rows out as wrong; correct or remove "
            "them, leave the cells empty if missing is meant (`.na` names such numbers, of every column), "
            "or take them as right by `.wild_cells=keep`",
      fmt::format("{}", fmt::join(named, ", "))};
}

}  // namespace

WildRows wild_rows(const Table& table, const std::vector<int64_t>& rows, const std::string& target_name,
                   const std::vector<std::string>& ignore, std::optional<LikelihoodKind> likelihood) {
  const Column& target = target_column(table, target_name);
  const TaskKind task = task_kind(table, target_name, likelihood);
  std::vector<std::string> not_inputs = ignore;
  not_inputs.push_back(target_name);
  const bool of_numbers = task != TaskKind::classification && is_finite(target, rows);
  WildColumn wild_target{&target};
  if (of_numbers) wild_target.places = wild_cells(cells_in(target, rows), kLeastTargetJump);
  std::vector<WildColumn> wild =
      wild_inputs(number_inputs(table, rows, not_inputs), rows, target, wild_target.places);
  if (!wild_target.places.empty())
    wild_target.fitted =
        target_explained(table, rows, target, wild_target.places, not_inputs, wild, !likelihood);
  std::set<int64_t> left_out;
  for (const WildColumn& one : wild)
    if (one.fitted.empty()) left_out.insert(one.places.begin(), one.places.end());
  if (task == TaskKind::classification) keep_classes(target, rows, left_out);
  for (WildColumn& one : wild)
    if (one.fitted.empty() &&
        std::ranges::none_of(one.places, [&](int64_t place) { return left_out.contains(place); }))
      one.fitted = "their class has too few rows";
  WildRows out;
  std::vector<ColumnNote> notes;
  if (!wild_target.places.empty()) notes.push_back(note_on(table, wild_target, rows, true));
  if (wild_target.fitted.empty()) {
    out.of_target = std::ssize(wild_target.places);
    left_out.insert(wild_target.places.begin(), wild_target.places.end());
  }
  for (const WildColumn& one : wild) notes.push_back(note_on(table, one, rows, false));
  out.notes = gathered(notes);
  for (const int64_t place : left_out) out.rows.push_back(rows[static_cast<size_t>(place)]);
  std::ranges::sort(out.rows);
  return out;
}

}  // namespace slimbayes
