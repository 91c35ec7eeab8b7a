#include "slimbayes/fit/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "slimbayes/catalog/nearest.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/rows/wild_rows.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes {

double leave_wild_rows_out(const Table& table, const FitOptions& fit, SplitRows& split) {
  if (fit.target.empty()) return 0;
  std::vector<int64_t> rows = split.train;
  for (const auto* part : {&split.valid, &split.calibration})
    rows.insert(rows.end(), part->begin(), part->end());
  std::ranges::sort(rows);
  const WildRows wild = wild_rows(table, rows, fit.target, ignored_columns(fit), fit.likelihood);
  split.notes.insert(split.notes.begin(), wild.notes.begin(), wild.notes.end());
  for (auto* part : {&split.train, &split.valid, &split.calibration})
    std::erase_if(*part, [&](int64_t row) { return std::ranges::binary_search(wild.rows, row); });
  return static_cast<double>(wild.of_target) / static_cast<double>(rows.size());
}

std::optional<Examples> without_wild_rows(const Examples& valid, const FitOptions& fit,
                                          std::vector<std::string>& notes) {
  const auto* table = std::get_if<Table>(&valid);
  if (table == nullptr || fit.target.empty()) return std::nullopt;
  std::vector<int64_t> rows(static_cast<size_t>(table->rows));
  std::iota(rows.begin(), rows.end(), 0);
  const WildRows wild = wild_rows(*table, rows, fit.target, ignored_columns(fit), fit.likelihood);
  for (const std::string& note : wild.notes) notes.push_back("validation data: " + note);
  if (wild.rows.empty()) return std::nullopt;
  std::erase_if(rows, [&](int64_t row) { return std::ranges::binary_search(wild.rows, row); });
  return take(valid, rows);
}

PositiveExamples positive_validation(const Examples& valid, const FitOptions& fit) {
  const Table* table = table_of(valid);
  if (table != nullptr && !fit.weights.empty() && table->find(fit.weights) == nullptr)
    refuse("fit", fmt::format("the column {} of weights in the validation data too", in_quotes(fit.weights)),
           "a table without it", nearest_hint(fit.weights, table->names()));
  return positive_examples(valid, fit);
}

std::string weightless_note(int64_t weightless, int64_t all, std::string_view noun,
                            const std::string& column) {
  return fmt::format("{} of {} {} the weight 0 in {}: left out", weightless, counted(all, noun),
                     weightless == 1 ? "has" : "have", in_quotes(column));
}

std::vector<int64_t> own_valid_rows(const Table& valid, const FitOptions& fit) {
  KnownRows known = known_rows(valid, fit.target);
  Examples rows = std::move(known.table);
  const auto keep = [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> kept;
    for (const int64_t i : at) kept.push_back(known.places[static_cast<size_t>(i)]);
    known.places = std::move(kept);
  };
  if (PositiveExamples positive = positive_validation(rows, fit); positive.some) {
    keep(positive.places);
    rows = *std::move(positive.some);
  }
  if (fit.wild_cells != "leave-out") return known.places;
  std::vector<int64_t> all(known.places.size()), sane;
  std::iota(all.begin(), all.end(), 0);
  const WildRows wild =
      wild_rows(std::get<Table>(rows), all, fit.target, ignored_columns(fit), fit.likelihood);
  std::ranges::set_difference(all, wild.rows, std::back_inserter(sane));
  keep(sane);
  return known.places;
}

SplitRows among_places(SplitRows split, const std::vector<int64_t>& places) {
  if (places.empty()) return split;
  for (auto* part : {&split.train, &split.valid, &split.calibration, &split.test}) {
    std::erase_if(*part, [&](int64_t row) { return !std::ranges::binary_search(places, row); });
    for (int64_t& row : *part) row = std::ranges::lower_bound(places, row) - places.begin();
  }
  return split;
}

SplitRows among_all(SplitRows split, const std::vector<int64_t>& places) {
  if (places.empty()) return split;
  for (auto* part : {&split.train, &split.valid, &split.calibration, &split.test})
    for (int64_t& row : *part) row = places[static_cast<size_t>(row)];
  return split;
}

PartExamples examples_in_parts(const Examples& examples, const SplitRows& split) {
  std::vector<int64_t> rows;
  for (const auto* part : {&split.train, &split.valid, &split.calibration, &split.test})
    rows.insert(rows.end(), part->begin(), part->end());
  if (!std::holds_alternative<Table>(examples) || std::ssize(rows) == count(examples))
    return {std::nullopt, split};
  std::ranges::sort(rows);
  return {take(examples, rows), among_places(split, rows)};
}

}  // namespace slimbayes
