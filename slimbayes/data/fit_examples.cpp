#include "slimbayes/data/fit_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/nearest.h"
#include "slimbayes/catalog/option.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/calibration_cells.h"
#include "slimbayes/data/split/time_split.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/data/windows/window_split.h"
#include "slimbayes/encoding/target_cells.h"

namespace slimbayes {

namespace {

SplitOptions split_options(const FitOptions& o) {
  std::vector<std::string> not_inputs = ignored_columns(o);
  if (!o.target.empty()) not_inputs.push_back(o.target);
  const bool calibrated = o.calibrate != "none";
  return {.valid_fraction = o.valid_fraction,
          .test_fraction = o.test_fraction,
          .kind = o.split == "time" ? "auto" : o.split,
          .not_inputs = not_inputs,
          .declared = o.categorical,
          .calibration_fraction = calibrated ? o.calibration_fraction : 0,
          .folds = o.test_folds,
          .fold = o.test_fold,
          .without_wild_times = o.wild_cells == "leave-out"};
}

/// Returns n groups of one example each.
RowGroups each_alone(int64_t n) {
  RowGroups groups{std::vector<int64_t>(static_cast<size_t>(n)), n};
  std::iota(groups.of.begin(), groups.of.end(), 0);
  return groups;
}

}  // namespace

WindowOptions window_options(const FitOptions& options) {
  return {options.window, options.horizon, options.time, options.group, options.fill_gaps};
}

void check_examples(const Examples& examples, const FitOptions& options) {
  const InputKind kind = input_kind(options);
  const bool images = std::holds_alternative<Images>(examples);
  if (images && !are_images(kind) && kind != InputKind::table)
    refuse("fit", "images without `.window` and `.text`", kind == InputKind::text ? "`.text`" : "`.window`",
           "leave it out");
  check(images || !are_images(kind), "fit", "images for `.format`", "a table");
  const auto* table = std::get_if<Table>(&examples);
  if (table != nullptr && kind == InputKind::text && !table->find(options.text))
    refuse("text", fmt::format("a column {} of text", in_quotes(options.text)), "a table without it",
           nearest_hint(options.text, table->names()));
  check_sections(options, images ? InputKind::images : kind);
  if (const auto* given = std::get_if<Images>(&examples)) {
    const int64_t side = std::min(given->pixels.size(2), given->pixels.size(3));
    if (!(options.crop < side))
      refuse("fit", fmt::format("a crop below the images' side of {} pixels", side),
             fmt::format("{}", options.crop), "4 is usual for 32 pixels");
  }
  check(!std::holds_alternative<WindowTable>(examples) || kind == InputKind::windows, "fit",
        "a size of window for windows", "none", "set FitOptions::window");
}

const Table* table_of(const Examples& examples) {
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return windows->table.get();
  return std::get_if<Table>(&examples);
}

InputKind kind_asked(const Examples& examples, const FitOptions& options) {
  const auto* images = std::get_if<Images>(&examples);
  return images != nullptr ? kind_of(*images) : input_kind(options);
}

std::vector<std::string> targets_of(const FitOptions& options, const Table& table) {
  if (options.target.empty()) return {};
  if (table.find(options.target)) return {options.target};
  std::vector<std::string> names = split_list(options.target);
  const auto commas = std::ranges::count(options.target, ',');
  if (std::ssize(names) != commas + 1)
    refuse("fit", "a column between every two commas of `.target`", in_quotes(options.target),
           "leave out the comma without a column");
  return names;
}

void check_target(const Examples& examples, const FitOptions& options) {
  const Table* table = table_of(examples);
  const bool events = options.likelihood == LikelihoodKind::cox;
  if (table != nullptr && options.target.empty() && !events) check_target_column(*table, "");
  check_columns(options, kind_asked(examples, options));
  if (table == nullptr || events) return;
  check_weights_column(*table, options);
  check_calibrate_by(*table, options);
  if (std::ranges::find(options.time, options.target) != options.time.end())
    refuse("fit", "a target beside the column of times", in_quotes(options.target) + " as both",
           "`.target` names the column to forecast");
  check_target_column(*table, options.target);
}

Examples examples_of(Examples given, const FitOptions& options) {
  check_examples(given, options);
  check_target(given, options);
  const InputKind kind = input_kind(options);
  if (kind != InputKind::windows || !std::holds_alternative<Table>(given)) return given;
  return window_table(std::get<Table>(std::move(given)), window_options(options), {}, options.target);
}

SplitRows split_examples(const Examples& examples, const FitOptions& options) {
  SplitOptions split = split_options(options);
  if (const auto* w = std::get_if<WindowTable>(&examples))
    return split_windows(*w->windows, w->selected, window_options(options), split);
  if (const auto* table = std::get_if<Table>(&examples); table != nullptr && options.split == "time")
    return split_by_time(*table, options.time, split);
  check(options.split != "time", "fit", "rows of a table for `.split=time`", "images, which have no times",
        "leave it out");
  const Stream stream = Stream(options.split_seed).split("split");
  if (const auto* images = std::get_if<Images>(&examples)) {
    split.noun = noun_of(InputKind::images);
    return split_rows(alike_images(*images), split, stream);
  }
  const Table& table = std::get<Table>(examples);
  return options.text.empty() ? split_rows(table, split, stream)
                              : split_rows(alike_texts(table, options.text), split, stream);
}

RowGroups groups_of(const Examples& examples, const FitOptions& options) {
  const SplitOptions split = split_options(options);
  if (const auto* w = std::get_if<WindowTable>(&examples)) return each_alone(std::ssize(w->selected));
  if (const auto* images = std::get_if<Images>(&examples)) return row_groups(alike_images(*images), split);
  const Table& table = std::get<Table>(examples);
  return options.text.empty() ? row_groups(table, split)
                              : row_groups(alike_texts(table, options.text), split);
}

}  // namespace slimbayes
